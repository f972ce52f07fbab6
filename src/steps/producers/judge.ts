/** Applies the rules of producers to parsed messages. In a stage that only warns, violations are reported. */
import type { Operation } from '../../domain/config/resolved.ts';
import type { OperationName } from '../../domain/ids.ts';
import {
  acknowledgeProblem,
  DEFAULT_RULES,
  type Power,
  type Producers,
  type RulesMode,
  type RulesOf,
  sendProblem,
} from '../../domain/producers/rules.ts';
import { type Sender, UNKNOWN_SENDER } from '../../domain/producers/sender.ts';
import type { RegisterMessage, SentTask } from '../../domain/register/register-message.ts';
import type { Report } from '../../ports/machine.ts';
import type { Problem } from '../../util/problems.ts';
import type { ItemKeys } from '../fan-outs/item-keys.ts';

/** What decides over the powers of producers. */
export interface Powers {
  /** The ids behind the names in the rules. */
  readonly producers: Producers;
  mode(): Promise<RulesMode>;
  readonly itemKeys: ItemKeys;
}

/** A rule that a message broke. */
interface Broken {
  readonly rule: Power;
  readonly operation: OperationName;
  readonly sender: Sender;
}

/** The most senders that one report names. */
const SENDERS_SHOWN = 10;

/** Reports violations in a stage that only warns: one event for each rule and operation. */
export const reportBroken = (report: Report, broken: readonly Broken[]): void => {
  for (const same of Map.groupBy(broken, ({ rule, operation }) => `${rule} ${operation}`).values()) {
    const [{ rule, operation } = {} as Broken] = same;
    const senders = [...new Set(same.map(({ sender }) => sender.id))].slice(0, SENDERS_SHOWN);
    report({ event: 'rule-broken', rule, operation, messages: same.length, senders });
  }
};

/** The rules as one invocation applies them. */
export class Judge {
  readonly #mode: RulesMode;
  readonly #producers: Producers;
  readonly #broken: Broken[] = [];

  constructor(mode: RulesMode, producers: Producers) {
    this.#mode = mode;
    this.#producers = producers;
  }

  /** The problem that a rule has with a message, if the rule is enforced. Otherwise the violation is noted. */
  problem(
    rule: Power,
    of: (rules: RulesOf, sender: Sender) => Problem | undefined,
    operation: Operation,
    { sender = UNKNOWN_SENDER }: Pick<RegisterMessage, 'sender'>,
  ): Problem | undefined {
    const problem = of(this.rulesOf(operation), sender);
    if (!problem || this.#mode === 'enforce') return problem;
    this.#broken.push({ rule, operation: operation.operation, sender });
    return undefined;
  }

  get mode(): RulesMode {
    return this.#mode;
  }

  rulesOf({ operation, producers: rules = DEFAULT_RULES }: Operation): RulesOf {
    return { operation, rules, producers: this.#producers };
  }

  /** Reports the violations that were noted. */
  report(report: Report): void {
    reportBroken(report, this.#broken);
    this.#broken.length = 0;
  }
}

/** What the rules of its operation have against a task of this sender. */
export const taskProblems = (
  judge: Judge,
  operation: Operation,
  message: Pick<RegisterMessage, 'sender'>,
  { fanOutItem, itemToken }: Pick<SentTask, 'fanOutItem' | 'itemToken'>,
): readonly Problem[] =>
  [
    judge.problem('send', sendProblem, operation, message),
    fanOutItem !== undefined && itemToken === undefined
      ? judge.problem('acknowledge', acknowledgeProblem, operation, message)
      : undefined,
  ].filter((problem) => problem !== undefined);
