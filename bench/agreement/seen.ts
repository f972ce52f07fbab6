/** What is compared of a trace that ran, and one that was simulated. */
import type { Outcome, Spread } from '../../tools/simulate/outcome.ts';

export interface Seen {
  readonly calls: number;
  /** In these calls. */
  readonly tasks: number;
  readonly waits: Spread;
  readonly earlyGuards: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export const seenIn = ({ operations, usage, earlyGuards }: Outcome): Seen => {
  const [only] = operations;
  if (!only || operations.length > 1) throw new Error('a trace of one operation is compared');
  return {
    calls: only.calls,
    tasks: only.succeeded + only.failed,
    waits: only.waits,
    earlyGuards,
    writeUnits: usage.writeUnits,
    readUnits: usage.readUnits,
  };
};
