/** The outcome of a schedule, measured without the code of an algorithm, so that algorithms can be compared. */

import { AS_THEY_COME, operationFor } from '../../src/domain/config/resolved.ts';
import type { Millis, Target, TaskId } from '../../src/domain/ids.ts';
import { withId } from '../../src/domain/register/register-body.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { START } from '../../src/virtual/trace.ts';
import type { LoggedCall } from '../../verification/batches/call-log.ts';
import { withOperations } from '../../verification/batches/configurations.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { withoutPolicies } from '../../verification/batches/without-policies.ts';

/** The counts of one schedule, or sums over many schedules. */
export interface Outcome {
  readonly schedules: number;
  /** Tasks whose message a queue accepted. */
  readonly tasks: number;
  /** The number of schedules with a stranded task. */
  readonly schedulesStranded: number;
  /** Tasks that never end, although no event is left, and whose messages are in no dead-letter queue. */
  readonly stranded: number;
  /** Stranded tasks that do not end even after a later task of their Target has arrived. */
  readonly strandedStill: number;
  /** Tasks that never end, and whose message waits in a dead-letter queue for a person. */
  readonly deadLettered: number;
  /** Tasks that were put into more than one batch. */
  readonly inTwoBatches: number;
  /** Tasks that were included in calls of more than one batch. */
  readonly calledInTwoBatches: number;
  /** Tasks whose first call came more than 10 s (or 10 min) after the end of their `maxWait`, or never. */
  readonly late: number;
  readonly veryLate: number;
  /** The number of batches with tasks, of the tasks in them, and of the tasks that they could hold. */
  readonly batches: number;
  readonly members: number;
  readonly places: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export const NOTHING: Outcome = {
  schedules: 0,
  tasks: 0,
  schedulesStranded: 0,
  stranded: 0,
  strandedStill: 0,
  deadLettered: 0,
  inTwoBatches: 0,
  calledInTwoBatches: 0,
  late: 0,
  veryLate: 0,
  batches: 0,
  members: 0,
  places: 0,
  writeUnits: 0,
  readUnits: 0,
};

export const sum = (a: Outcome, b: Outcome): Outcome =>
  Object.fromEntries((Object.keys(a) as (keyof Outcome)[]).map((name) => [name, a[name] + b[name]])) as Record<
    keyof Outcome,
    number
  >;

/**
 * A schedule that both algorithms can run. The published algorithm has no limits in bytes and weight, no windows, caps
 * and task options, no flushes, cancels, pauses and redrives, and no patrol. Every task has an id, so that its send
 * time is known without the algorithm.
 */
export const comparable = (scenario: Scenario): Scenario => {
  const { config, sends, ...rest } = withoutPolicies(scenario);
  return {
    ...rest,
    config: {
      ...withOperations(config, ({ batch }) => ({ batch: { ...batch, maxBytes: 1_000_000 } })),
      register: AS_THEY_COME,
    },
    sends: sends.map(({ at, body }, n) => ({ at, body: withId(body, `unnamed-${n}`) })),
    flushes: [],
    redrives: [],
    purges: [],
    patrol: false,
  };
};

/** A task as its producer sent it. */
export interface Sent {
  readonly target: Target;
  /** The time of the first send, in milliseconds from the start. */
  readonly at: Millis;
  readonly maxWait: Millis;
  readonly maxSize: number;
}

/** The tasks of a schedule, without messages that the register function of either algorithm refuses. */
export const sentTasks = ({ config, sends }: Scenario): ReadonlyMap<TaskId, Sent> => {
  const tasks = new Map<TaskId, Sent>();
  for (const { at, body } of sends.toSorted((a, b) => a.at - b.at)) {
    const parsed = parseRegisterMessage(config, { messageId: '', body });
    if (!parsed.ok || tasks.has(parsed.value.id)) continue;
    const { id, target, operation } = parsed.value;
    const { maxWait, maxSize } = operationFor(config, operation).batch;
    tasks.set(id, { target, at, maxWait, maxSize });
  }
  return tasks;
};

/** The time that a task needs in addition to its wait if nothing goes wrong, in milliseconds. */
const LATE: Millis = 10_000;
const VERY_LATE: Millis = 600_000;

/** Computes the counts for which the calls are sufficient. */
export const countCalls = (
  sent: ReadonlyMap<TaskId, Sent>,
  calls: readonly LoggedCall[],
): Pick<Outcome, 'late' | 'veryLate' | 'calledInTwoBatches'> => {
  const batches = new Map<TaskId, Set<string>>();
  const firstAt = new Map<TaskId, Millis>();
  for (const { call, at } of calls)
    for (const { id } of call.items) {
      batches.set(id, (batches.get(id) ?? new Set()).add(call.batchId));
      firstAt.set(id, Math.min(firstAt.get(id) ?? at, at));
    }
  const beyondWait = [...sent].map(
    ([id, { at, maxWait }]) => (firstAt.get(id) ?? Number.POSITIVE_INFINITY) - START - at - maxWait,
  );
  return {
    late: beyondWait.filter((by) => by > LATE).length,
    veryLate: beyondWait.filter((by) => by > VERY_LATE).length,
    calledInTwoBatches: [...batches.values()].filter(({ size }) => size > 1).length,
  };
};
