/** A simulated batch API in virtual time. It gives any answer that a real one might give. */

import { printBatch } from '../../src/domain/batches/messages.ts';
import { type Config, operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, Call, Downstream, ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';
import type { SimulatedQueue } from '../../src/memory/queue.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { DOWNSTREAM_CALL } from '../../src/virtual/faulty-gate.ts';
import { type Gate, through } from '../../src/virtual/gate.ts';
import type { Random } from '../../src/virtual/random.ts';
import { START } from '../../src/virtual/trace.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import type { PoisonedDownstream } from './poison.ts';

/** The downstream that is configured. The simulated downstream is called instead. */
export const NOWHERE = {
  kind: 'http',
  url: 'http://127.0.0.1/',
  method: 'POST',
  auth: null,
  request: null,
  response: null,
  headers: {},
  secret: null,
  legacySignature: true,
  requireResults: null,
  usageHeader: null,
} as const;

interface DownstreamWorld {
  readonly chaos: Chaos;
  /** The invocation that calls the downstream. */
  readonly name: string;
  readonly random: Random;
  readonly log: CallLog;
  readonly gate: Gate;
  readonly config: Config;
  /** Replaces the random behaviour. */
  readonly poison?: PoisonedDownstream | undefined;
  /** Called when a call arrives. */
  readonly onCall?: (call: LoggedCall) => void;
  /** The queue to which jobs report, if the downstream starts jobs. */
  readonly jobs?: SimulatedQueue;
}

/** The time within which most calls are answered. */
const SOON: Millis = 3_000;

/**
 * The simulated downstream. A call takes up to its operation's timeout. A call that would take longer gets no answer.
 */
export const simulatedDownstream = (world: DownstreamWorld): Downstream => {
  const { random, log, gate, config, name: by } = world;
  const { scheduler } = world.chaos;
  return {
    call: async (call) => {
      for (const { id } of call.items) log.tried.add(id);
      const logged: LoggedCall = { call, by, at: scheduler.now };
      try {
        await through(gate, DOWNSTREAM_CALL, () => {
          log.calls.push(logged);
          world.onCall?.(logged);
        });
      } catch (cause) {
        // As in the real downstream adapters, a failed request becomes an answer.
        logged.isLost = true;
        return { kind: 'unavailable', reason: String(cause), mayRetryAtOnce: true };
      }
      const { timeout } = operationFor(config, call.operation).downstream;
      if (world.poison) {
        await scheduler.wait(random.int(1, 50));
        const said = world.poison.answerTo(call, scheduler.now);
        if (!said) await scheduler.wait(timeout);
        const answer = said ?? noAnswer(timeout);
        logged.answered = { at: scheduler.now, answer };
        return answer;
      }
      const took = random.chance(0.2) ? random.int(0, 2 * timeout) : random.int(0, Math.min(SOON, timeout));
      await scheduler.wait(Math.min(took, timeout));
      const answer = took > timeout ? noAnswer(timeout) : answerTo(world, call);
      logged.answered = { at: scheduler.now, answer };
      if (answer.kind === 'pending') reportLater(world, call);
      return answer;
    },
  };
};

/**
 * As in the real downstream adapters: without an answer it is unknown whether the downstream has processed the call.
 */
const noAnswer = (timeout: Millis): Answer => ({
  kind: 'unavailable',
  reason: `no answer within ${timeout} ms`,
  mayRetryAtOnce: true,
});

/** The behaviour of the downstream in a schedule. */
interface Behaviour {
  /** The share of tasks that make every call fail that includes them. */
  readonly poisoned: number;
  /** The most items that it accepts in a call. */
  readonly mostItems: number;
  /** The share of calls whose results a job reports later. */
  readonly pending: number;
  /** When the downstream is down, and whether the configuration is the cause. */
  readonly down: { readonly from: Millis; readonly until: Millis; readonly isMisconfigured: boolean };
}

const behaviourOf = (chaos: Chaos): Behaviour => {
  const random = chaos.chanceOf('downstream');
  const from = START + random.pick([0, 5_000, 60_000]);
  return {
    poisoned: random.pick([0, 0, 0.05, 0.3]),
    mostItems: random.pick([1_000, 1_000, 1_000, 1, 2]),
    pending: random.pick([0, 0, 0.1, 0.5]),
    down: { from, until: from + random.pick([0, 0, 10_000, 120_000]), isMisconfigured: random.chance(0.5) },
  };
};

/** Whether calls with this task are refused. This depends only on the task's id. */
const isPoisoned = (chaos: Chaos, id: TaskId): boolean =>
  chaos.chanceOf(`poison in ${id}`).chance(behaviourOf(chaos).poisoned);

const answerTo = ({ chaos, random, jobs }: DownstreamWorld, call: Call): Answer => {
  const { down, mostItems, pending } = behaviourOf(chaos);
  const { now } = chaos.scheduler;
  if (now >= down.from && now < down.until)
    return down.isMisconfigured
      ? { kind: 'unavailable', reason: 'answered 403', mayRetryAtOnce: false, misconfigured: true }
      : { kind: 'unavailable', reason: 'answered 502', mayRetryAtOnce: true };
  if (random.chance(0.2)) return busyAnswer(random);
  if (call.items.length > mostItems) return { kind: 'refused', reason: 'answered 413', suspect: 'its-size' };
  if (call.items.some(({ id }) => isPoisoned(chaos, id)))
    return { kind: 'refused', reason: 'answered 400', suspect: 'an-item' };
  return jobs && random.chance(pending)
    ? { kind: 'pending' }
    : asReceived(chaos, call, throttledIn(chaos, random, workAnswer(random, call)));
};

const busyAnswer = (random: Random): Answer =>
  random.chance(0.5)
    ? { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true }
    : {
        kind: 'unavailable',
        reason: 'answered 429',
        retryAfter: random.int(0, 60_000),
        mayRetryAtOnce: false,
        throttled: true,
      };

const workAnswer = (random: Random, { items, inputs }: Call): Answer => {
  const kind = random.int(1, 10);
  if (inputs && kind >= 9) return { kind: 'all-succeeded', inputs: randomInputs(random, inputs) };
  if (kind <= 6) return { kind: 'all-succeeded' };
  if (kind === 7) return { kind: 'refused', reason: 'answered 409' };
  return { kind: 'results', items: someResults(random, items), foreign: random.int(0, 1) };
};

/** Throttles some of the items that a downstream answers with results: in half of the schedules. */
const throttledIn = (chaos: Chaos, random: Random, answer: Answer): Answer => {
  const share = chaos.chanceOf('throttled items').pick([0, 0, 0.2, 0.7]);
  if (share === 0 || answer.kind !== 'results') return answer;
  const items = new Map([...answer.items].map(([id, each]) => [id, random.chance(share) ? THROTTLED : each] as const));
  return { ...answer, items };
};

const THROTTLED: ItemAnswer = { status: 'throttled', reason: 'queue full' };

/** Results of most items. Some of these results ask for a retry. */
const someResults = (random: Random, items: Call['items']): ReadonlyMap<TaskId, ItemAnswer> => {
  const answers = new Map<TaskId, ItemAnswer>();
  for (const { id } of items) if (random.chance(0.9)) answers.set(id, randomItem(random.int(1, 4)));
  return answers;
};

/** A status for most inputs of a merged call. Some inputs are left out. */
const randomInputs = (random: Random, inputs: readonly string[]): string =>
  JSON.stringify(
    inputs
      .filter(() => random.chance(0.9))
      .map((text) => ({
        key: (JSON.parse(text) as { id: unknown }).id,
        status: random.pick(['succeeded', 'succeeded', 'succeeded', 'failed', 'retry']),
      })),
  );

const randomItem = (kind: number): ItemAnswer => {
  if (kind === 1) return { status: 'retry', reason: 'busy' };
  if (kind === 2) return { status: 'failed', error: { code: 'bad', message: 'no such parcel', retriable: false } };
  return { status: 'succeeded', result: '{"ok":true}' };
};

/** The answer that replaces results that are too large. The downstream has processed the call. */
const TOO_LARGE: Answer = { kind: 'refused', reason: 'answered 200 with more than is read', suspect: 'its-answer' };

/**
 * The largest total size of the results in one answer, in units of a small result. It is limited in every sixth
 * schedule.
 */
const mostOf = (chaos: Chaos): number => {
  const random = chaos.chanceOf('how large answers may be');
  return random.chance(1 / 6) ? random.pick([2, 4, 7]) : Number.POSITIVE_INFINITY;
};

/** The size of a task's result, which depends only on the task's id. One in ten is too large for any answer. */
const sizeOf = (chaos: Chaos, id: TaskId): number =>
  chaos.chanceOf(`result of ${id}`).pick([1, 1, 1, 1, 1, 1, 2, 2, 2, 8]);

/** The answer as the caller receives it. */
const asReceived = (chaos: Chaos, { items }: Call, answer: Answer): Answer => {
  if (answer.kind !== 'all-succeeded' && answer.kind !== 'results') return answer;
  const most = mostOf(chaos);
  if (most === Number.POSITIVE_INFINITY) return answer;
  const size = items.reduce((sum, { id }) => sum + sizeOf(chaos, id), 0);
  return size > most ? TOO_LARGE : answer;
};

/**
 * Lets a job report at once, in time, after its deadline or never. The job reports in one message or in several, and
 * some messages are sent twice.
 */
const reportLater = (world: DownstreamWorld, call: Call): void => {
  const { random, chaos, config } = world;
  if (random.chance(0.1)) return;
  const { deadline } = operationFor(config, call.operation).downstream;
  const parts = random.chance(0.3) ? halves(call.items) : [call.items];
  const saysAll = parts.length === 1 && random.chance(0.3);
  for (const items of parts) {
    const results = saysAll ? new Map<TaskId, ItemAnswer>() : someResults(random, items);
    const took = random.pick([random.int(0, 1_000), random.int(0, deadline), random.int(0, 2 * deadline)]);
    for (let times = random.chance(0.1) ? 2 : 1; times > 0; times -= 1)
      chaos.scheduler.after(took, () => report(world, call, saysAll ? undefined : results));
  }
};

const halves = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
};

/** @param results results of some items; undefined if all items have succeeded, because a report may then omit them */
const report = (
  { log, jobs, chaos }: DownstreamWorld,
  { batchId }: Call,
  results: ReadonlyMap<TaskId, ItemAnswer> | undefined,
): void => {
  log.reports.push({ batchId, at: chaos.scheduler.now, items: results ?? 'all-succeeded' });
  jobs?.send(printBatch({ kind: 'completion', batchId, results: results ? printResults(results) : null }));
};

const printResults = (results: ReadonlyMap<TaskId, ItemAnswer>): string => {
  const each = [...results].map(([id, answer]) => ({
    id,
    ...answer,
    ...(answer.status === 'succeeded' && answer.result !== undefined ? { result: JSON.parse(answer.result) } : {}),
  }));
  return JSON.stringify(each);
};
