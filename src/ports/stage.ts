/** The stage's decision whether it enforces the rules of producers, and what the decision depends on. */
import type { RulesMode } from '../domain/producers/rules.ts';

export interface Stage {
  /** The stored decision. Undefined if none is stored. */
  readMode(): Promise<RulesMode | undefined>;
  /** Stores a decision if none is stored. Returns the stored one. */
  decideMode(mode: RulesMode): Promise<RulesMode>;
  /** Whether any Target has a lock row. Eventually consistent. */
  hasTargets(): Promise<boolean>;
}
