/** The measures of a load with one of the ways. This file is pure. */
import type { Millis } from '../../src/domain/ids.ts';
import { billOf } from '../../tools/simulate/cost.ts';
import { AWS } from '../../tools/simulate/platform.ts';
import { PRICES } from '../../tools/simulate/prices.ts';
import { total } from '../meter.ts';
import { type Limits, leastCalls } from './least-calls.ts';
import type { Usage } from './site.ts';

interface Spread {
  readonly p50: Millis;
  readonly p99: Millis;
  readonly max: Millis;
}

interface PerTask {
  /** Capacity units. */
  readonly write: number;
  readonly read: number;
  /** SQS requests, without the producers' own requests and without receives that returned no message. */
  readonly sqsRequests: number;
  readonly invocations: number;
  /** The duration of the invocations, in milliseconds. */
  readonly lambdaMillis: Millis;
}

export interface Measures {
  readonly tasks: number;
  /** The number of tasks that were in no call. */
  readonly lost: number;
  /** The number of tasks that were in more than one call. */
  readonly twice: number;
  readonly calls: number;
  /** The fewest calls that would have been possible if all send times had been known in advance. */
  readonly leastCalls: number;
  readonly perTask: PerTask;
  readonly producerRequests: number;
  readonly emptyReceives: number;
  /** The time from the send of a task to its first call. */
  readonly waits: Spread;
  /** The part of the wait that exceeds `maxWait`. */
  readonly late: Spread;
  /** The price at list prices, in US dollars per million tasks. */
  readonly perMillion: number;
  /** The number of errors after which work was repeated. */
  readonly errors: number;
}

/** A task as it was sent. */
export interface Known {
  readonly target: string;
  readonly at: Millis;
}

export interface Observed {
  readonly limits: Limits;
  /** The tasks that were sent, by id. */
  readonly sent: ReadonlyMap<string, Known>;
  readonly calls: readonly { readonly at: Millis; readonly items: readonly { readonly id: string }[] }[];
  readonly usage: Usage;
  readonly producerRequests: number;
  readonly errors: number;
  readonly isFifo: boolean;
}

export const measuresOf = (observed: Observed): Measures => {
  const { limits, sent, calls, usage, producerRequests, errors, isFifo } = observed;
  const firstAt = new Map<string, Millis>();
  const twice = new Set<string>();
  for (const { at, items } of calls)
    for (const { id } of items)
      if (firstAt.has(id)) twice.add(id);
      else firstAt.set(id, at);
  const waits = [...sent].flatMap(([id, { at }]) => {
    const called = firstAt.get(id);
    return called === undefined ? [] : [Math.max(0, called - at)];
  });
  const perTask = perTaskOf(usage, sent.size);
  return {
    tasks: sent.size,
    lost: sent.size - waits.length,
    twice: twice.size,
    calls: calls.length,
    leastCalls: leastCallsOf(sent, limits),
    perTask,
    producerRequests,
    emptyReceives: total(usage.emptyReceives),
    waits: spreadOf(waits),
    late: spreadOf(waits.map((wait) => Math.max(0, wait - limits.maxWait))),
    perMillion: 1_000_000 * priceOf(perTask, isFifo),
    errors,
  };
};

/** The fewest possible calls, summed over all Targets. */
export const leastCallsOf = (sent: ReadonlyMap<string, Known>, limits: Limits): number => {
  const byTarget = new Map<string, Millis[]>();
  for (const { target, at } of sent.values()) {
    const times = byTarget.get(target) ?? [];
    times.push(at);
    byTarget.set(target, times);
  }
  return [...byTarget.values()].reduce((sum, times) => sum + leastCalls(times, limits), 0);
};

/**
 * The fewest possible calls divided by the calls made. The value is above 1 if tasks waited for longer than `maxWait`.
 */
export const fillOf = ({ leastCalls: least, calls }: Measures): number => (calls === 0 ? 0 : least / calls);

/** The total cost in dollars per million tasks. @param perCall the price of a call, in dollars */
export const inAll = ({ perMillion, calls, tasks }: Measures, perCall: number): number =>
  perMillion + (calls / tasks) * perCall * 1_000_000;

/**
 * The prices of a call at which one way costs more in total than another: all prices, the prices above a price, or
 * those below it; in dollars per call.
 */
export type Dearer = 'always' | 'never' | { readonly from: number } | { readonly upTo: number };

export const whereDearer = (way: Measures, than: Measures): Dearer => {
  const [calls, dollars] = [way.calls / way.tasks - than.calls / than.tasks, way.perMillion - than.perMillion];
  if (calls >= 0 && dollars >= 0) return 'always';
  if (calls <= 0 && dollars <= 0) return 'never';
  const price = -dollars / calls / 1_000_000;
  return calls > 0 ? { from: price } : { upTo: price };
};

const perTaskOf = (usage: Usage, tasks: number): PerTask => ({
  write: total(usage.writeUnits) / tasks,
  read: total(usage.readUnits) / tasks,
  sqsRequests: total(usage.sqsRequests) / tasks,
  invocations: total(usage.invocations) / tasks,
  lambdaMillis: total(usage.millis) / tasks,
});

const spreadOf = (values: readonly Millis[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): Millis => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
};

/**
 * Dollars per task, computed as in the simulator, without the producers' own requests. Every function has the same
 * memory as in Groupage.
 */
const priceOf = ({ write, read, sqsRequests, invocations, lambdaMillis }: PerTask, isFifo: boolean): number => {
  const usage = { writeUnits: write, readUnits: read, sqsRequests, invocations: { all: invocations }, lambdaMillis };
  const { dynamodb, sqs, lambda } = billOf(usage, AWS);
  const { perMillionRequests, perMillionFifoRequests } = PRICES.sqs;
  return dynamodb + sqs * (isFifo ? perMillionFifoRequests / perMillionRequests : 1) + lambda;
};
