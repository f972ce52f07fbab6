/**
 * What producers may do with register messages, for each operation. Pure.
 *
 * IAM decides who may send to the register queue at all. These rules limit what a message does to the work of others: end
 * other tasks by their coalesce key, acknowledge items of fan-outs, and start failed tasks again.
 */
import type { Problem } from '../../util/problems.ts';
import type { OperationName } from '../ids.ts';
import type { Sender } from './sender.ts';

/** Lists hold names of producers. */
export interface ProducerRules {
  /** The senders that may send tasks. */
  readonly send: 'any' | readonly string[];
  /** The senders whose tasks may replace waiting tasks of other senders. `own`: none. */
  readonly coalesce: 'any' | 'own' | readonly string[];
  /** The senders that may name a fan-out's item without its token. `token`: none. */
  readonly acknowledge: 'any' | 'token' | readonly string[];
  /** The senders that may redrive tasks by a message, besides callers of the API. `api`: none. */
  readonly redrive: 'any' | 'api' | readonly string[];
}

/** A power that a rule limits. */
export type Power = keyof ProducerRules;
export const POWERS = ['send', 'coalesce', 'acknowledge', 'redrive'] as const satisfies readonly Power[];

export const DEFAULT_RULES: ProducerRules = { send: 'any', coalesce: 'own', acknowledge: 'token', redrive: 'api' };

/** `warn`: messages are handled as if every rule were `any`, and each violation is reported. */
export type RulesMode = 'enforce' | 'warn';

/** The unique ids of the senders that each name stands for. */
export type Producers = Readonly<Record<string, readonly string[]>>;

/** The rules of an operation, with the senders that their names stand for. */
export interface RulesOf {
  readonly operation: OperationName;
  readonly rules: ProducerRules;
  readonly producers: Producers;
}

/** Adds ids to names. A name that is not configured is left out. */
export const withIds = (producers: Producers, more: Producers): Producers =>
  Object.fromEntries(
    Object.entries(producers).map(([name, ids]) => [
      name,
      [...new Set([...ids, ...(Object.hasOwn(more, name) ? (more[name] ?? []) : [])])],
    ]),
  );

/** Lets one sender be every configured producer. */
export const everyProducer = (producers: Producers, ...ids: readonly string[]): Producers =>
  Object.fromEntries(Object.keys(producers).map((name) => [name, ids]));

const namesOf = (producers: Producers, { id }: Sender): readonly string[] =>
  Object.keys(producers).filter((name) => producers[name]?.includes(id));

const isNamed = ({ producers }: RulesOf, rule: string | readonly string[], sender: Sender): boolean =>
  typeof rule !== 'string' && namesOf(producers, sender).some((name) => rule.includes(name));

/** Why a sender may not send tasks of the operation. Undefined if it may. */
export const sendProblem = (of: RulesOf, sender: Sender): Problem | undefined => {
  const { send } = of.rules;
  if (send === 'any' || isNamed(of, send, sender)) return undefined;
  return {
    path: 'operation',
    reason: `${of.operation} accepts no tasks of sender ${sender.id}: ${allowedBy(of, 'send')}`,
  };
};

/** Why a sender may not name an item without its token. Undefined if it may. */
export const acknowledgeProblem = (of: RulesOf, sender: Sender): Problem | undefined => {
  const { acknowledge } = of.rules;
  if (acknowledge === 'any' || isNamed(of, acknowledge, sender)) return undefined;
  return {
    path: 'fanOutItem',
    reason: `needs the item's token, as in "01J9ZQ4:0:17:TOKEN", because ids without one can be guessed: take the ids from the client for fan-outs, or build them with the itemKey of POST /v1/fan-outs/ID/items. Without it, ${allowedBy(of, 'acknowledge')}`,
  };
};

/** Why a sender may not redrive tasks of the operation by a message. Undefined if it may. */
export const redriveProblem = (of: RulesOf, sender: Sender): Problem | undefined => {
  const { redrive } = of.rules;
  if (sender.via === 'api' || redrive === 'any' || isNamed(of, redrive, sender)) return undefined;
  return {
    path: 'run',
    reason: `sender ${sender.id} may not redrive tasks of ${of.operation} by a message: call POST /v1/tasks/redrive. By a message, ${allowedBy(of, 'redrive')}`,
  };
};

/**
 * The senders among whose waiting tasks a coalesce key is compared, named by one text. Undefined if the key is compared
 * with the tasks of all senders that may coalesce with others. Several ids of one producer count as one sender.
 */
export const coalescesAmong = (of: RulesOf, sender: Sender): string | undefined => {
  const { coalesce } = of.rules;
  if (coalesce === 'any' || isNamed(of, coalesce, sender)) return undefined;
  return namesOf(of.producers, sender)[0] ?? sender.id;
};

const allowedBy = ({ operation, rules }: RulesOf, power: Power): string => {
  const rule = rules[power];
  const who = typeof rule === 'string' ? rule : rule.length > 0 ? rule.join(', ') : 'nobody';
  return `producers.${power} of ${operation} allows ${who}; a configured name stands for the ids under "producers" and the roles of grantRegister(role, { as: NAME })`;
};
