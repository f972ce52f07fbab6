/**
 * Schedules in which single tasks make every call fail that includes them, and schedules of an outage. The downstream
 * answers nothing but this. The promises: such a task fails no other task, and costs few calls; it does not keep the
 * circuit of its operation open for others.
 */
import type { Operation } from '../../src/domain/config/resolved.ts';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import { type Millis, operationOf, type TaskId } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import { withOperations } from './configurations.ts';
import type { Evidence } from './evidence.ts';
import type { Scenario } from './scenario.ts';
import { withoutPolicies } from './without-policies.ts';

/** What happens to a call with a task at fault: an error, no answer, or a crash after which the server restarts. */
const WAYS = ['answers 500', 'hangs', 'closes the connection', 'crashes'] as const;

/** The only behaviour of a downstream. Times are in ms from the start. */
export interface Poison {
  /** Begins the ids of the tasks at fault. */
  readonly prefix: string;
  readonly how: (typeof WAYS)[number];
  /** The tasks are at fault until this time. */
  readonly until: Millis;
  /** An outage: all calls fail. */
  readonly outage?: { readonly from: Millis; readonly until: Millis };
  /** The promises to check. */
  readonly promises: 'one batch' | 'many Targets' | 'it fails' | 'none';
}

/** How long a crashed server is down. */
const RESTART: Millis = 400;

/** The answers of a downstream with tasks at fault. */
export class PoisonedDownstream {
  readonly #poison: Poison;
  #downUntil: Millis = 0;

  constructor(poison: Poison) {
    this.#poison = poison;
  }

  /** @returns the answer, or undefined if the downstream does not answer */
  answerTo({ items }: Call, now: Millis): Answer | undefined {
    const { prefix, how, until, outage } = this.#poison;
    const since = now - START;
    if (outage && since >= outage.from && since < outage.until) return failed('answered 503');
    if (now < this.#downUntil) return failed('no answer: connection refused');
    if (since >= until || !items.some(({ id }) => id.startsWith(prefix))) return { kind: 'all-succeeded' };
    if (how === 'hangs') return undefined;
    if (how === 'crashes') this.#downUntil = now + RESTART;
    return failed(how === 'answers 500' ? 'answered 500' : 'no answer: connection reset');
  }
}

const failed = (reason: string): Answer => ({ kind: 'unavailable', reason, mayRetryAtOnce: true });

export const COOL_DOWN: Millis = 30_000;
/** The number of failures that open the circuit. */
export const FAILURES = 5;
const TIMEOUT: Millis = 2_000;
const TASKS = 20;

const only = (
  scenario: Scenario,
  poison: Poison,
  sends: readonly { readonly at: Millis; readonly id: string; readonly depot: string }[],
  change: Partial<Operation>,
): Scenario => ({
  ...withoutPartitions(withoutPolicies(scenario)),
  config: withOperations(withoutPolicies(scenario).config, (operation) => ({
    shards: 1,
    batch: { ...operation.batch, maxSize: TASKS, maxBytes: 1_000_000, maxWait: 1_000 },
    retry: { immediate: 1, maxAttempts: 3, minDelay: 1_000, maxDelay: 300_000, bisect: true, isolate: true },
    circuit: { failures: FAILURES, coolDown: COOL_DOWN },
    downstream: { ...operation.downstream, timeout: TIMEOUT },
    ...change,
  })),
  poison,
  sends: sends.map(({ at, ...task }) => ({ at, body: bodyOf(task) })),
  // SQS delivers messages twice. Nothing else goes wrong, so that calls can be counted.
  faults: { ...NO_FAULTS, duplicate: 0.05 },
  outages: [],
  flushes: [],
  redrives: [],
  patrol: false,
  purges: [],
});

const withoutPartitions = ({ partitions: _, ...scenario }: Scenario): Scenario => scenario;

const bodyOf = ({ id, depot }: { readonly id: string; readonly depot: string }): string =>
  JSON.stringify({ id, operation: 'ship', payload: { depot } });

const wayOf = (scenario: Scenario): Poison['how'] => WAYS[scenario.seed % WAYS.length] ?? 'hangs';

/** One batch of 20 tasks, one of them at fault. No other call shows whether the downstream works. */
export const poisonedBatch = (scenario: Scenario): Scenario =>
  only(
    scenario,
    { prefix: 'bad', how: wayOf(scenario), until: Number.POSITIVE_INFINITY, promises: 'one batch' },
    Array.from({ length: TASKS }, (_, n) => ({
      at: 0,
      id: n === scenario.seed % TASKS ? 'bad' : `good${n}`,
      depot: '1',
    })),
    { circuit: scenario.seed % 3 === 0 ? null : { failures: FAILURES, coolDown: COOL_DOWN } },
  );

/** How long tasks of {@link poisonedTargets} are at fault. */
const CURED: Millis = 900_000;

/**
 * Every two seconds comes a task of a good Target. After 20 s come 40 tasks of Targets at fault, all at once. None of
 * them crashes the server: the crashes of 40 Targets are an outage for all.
 */
export const poisonedTargets = (scenario: Scenario): Scenario =>
  only(
    scenario,
    { prefix: 'bad', how: WAYS[scenario.seed % 3] ?? 'hangs', until: CURED, promises: 'many Targets' },
    [
      ...Array.from({ length: 40 }, (_, n) => ({ at: 20_000, id: `bad${n}`, depot: `bad${n}` })),
      ...Array.from({ length: 60 }, (_, n) => ({ at: 2_000 * n, id: `good${n}`, depot: 'good' })),
    ],
    {
      retry: { immediate: 1, maxAttempts: 5, minDelay: 1_000, maxDelay: 300_000, bisect: true, isolate: true },
      concurrency: { perTarget: null, total: scenario.seed % 2 === 0 ? null : 10 },
    },
  );

/**
 * A single task at fault opens the circuit with each of its calls. Every two seconds comes a task of another Target,
 * for a quarter of an hour.
 */
export const poisonAmongOthers = (scenario: Scenario): Scenario =>
  only(
    scenario,
    { prefix: 'bad', how: WAYS[scenario.seed % 3] ?? 'hangs', until: Number.POSITIVE_INFINITY, promises: 'it fails' },
    [
      { at: 20_000, id: 'bad', depot: 'bad' },
      ...Array.from({ length: 450 }, (_, n) => ({ at: 2_000 * n, id: `good${n}`, depot: 'good' })),
    ],
    { circuit: { failures: 1, coolDown: 5_000 } },
  );

/** An outage of an hour. Tasks of several Targets arrive before and during the outage. */
export const outageOfAnHour = (scenario: Scenario, isolate: boolean): Scenario => {
  const hour: Millis = 3_600_000;
  const batches = [1, 4, 12][scenario.seed % 3] ?? 1;
  const retry = {
    immediate: 1,
    maxAttempts: 3 + (scenario.seed % 3),
    minDelay: 1_000,
    maxDelay: 300_000,
    bisect: true,
  };
  return only(
    scenario,
    {
      prefix: 'bad',
      how: 'answers 500',
      until: 0,
      outage: { from: 1_000 * (scenario.seed % 5), until: hour },
      promises: 'none',
    },
    Array.from({ length: batches * TASKS }, (_, n) => ({
      at: Math.floor(n / TASKS) * 200_000,
      id: `good${n}`,
      depot: `${Math.floor(n / TASKS) % 4}`,
    })),
    { retry: { ...retry, isolate } },
  );
};

/** @throws Violation */
export const checkPoison = (evidence: Evidence): void => {
  const { poison, tables, log, config } = evidence;
  if (!poison || poison.promises === 'none') return;
  const tasks = [...tables.tasks.values()];
  const good = tasks.filter(({ id }) => !isAtFault(poison, id));
  for (const task of good)
    demand(task.state.status === 'succeeded', 'no task fails through the fault of another', task);
  if (poison.promises === 'many Targets') {
    // A cycle: the pause, the call that tests the downstream, and the wait for a batch.
    const cycle = COOL_DOWN + 2 * TIMEOUT + 1_000;
    for (const task of good) {
      const took = 'finishedAt' in task.state ? task.state.finishedAt - task.createdAt : Number.POSITIVE_INFINITY;
      demand(took <= 2 * cycle, 'a good Target is called within two cycles of the circuit', { task, took });
    }
    return;
  }
  for (const task of tasks.filter(({ id }) => isAtFault(poison, id)))
    demand(task.state.status === 'failed', 'a task at fault fails after its attempts', task);
  if (poison.promises === 'it fails') return;
  const [first] = tasks;
  const { maxAttempts } = (first && config.operations[operationOf(first.target)])?.retry ?? { maxAttempts: 0 };
  const most = 4 * Math.log2(TASKS) + maxAttempts;
  // A schedule may split the tasks into two batches. A crash of the server also fails calls of the other one.
  const itsBatches = new Set(
    log.calls.filter(({ call }) => call.items.some(({ id }) => isAtFault(poison, id))).map(({ call }) => call.batchId),
  );
  const calls = log.calls.filter(({ call }) => itsBatches.has(call.batchId)).length;
  demand(calls <= most, 'a task at fault is found with few calls', { calls, most });
};

const isAtFault = ({ prefix }: Poison, id: TaskId): boolean => id.startsWith(prefix);
