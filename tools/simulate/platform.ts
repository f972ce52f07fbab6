/**
 * The simulated platform: latencies of requests, and numbers of concurrent invocations. All assumptions are here;
 * docs/how-to/simulate.md lists them.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Pollers } from '../../src/virtual/habits.ts';
import type { Random } from '../../src/virtual/random.ts';

export interface Platform {
  /** Latency of a request to DynamoDB or SQS. A call with more than `atOnce` statements or messages takes several requests. */
  readonly request: Latency;
  /** Maximum number of statements, rows or messages that run in parallel; in AWS, 8 requests of 25 each. */
  readonly atOnce: number;
  /**
   * Time between the moment a message becomes visible and the moment a free function receives it. If this time is
   * shorter than the sender's next request, the message arrives before the sender's next write.
   */
  readonly delivery: Latency;
  /** Duration of an invocation without its requests, in ms. */
  readonly overhead: Millis;
  /** Memory of a function in GB. */
  readonly memory: number;
  /**
   * Concurrent invocations of one event source: at the start, increase per minute while messages wait, and maximum.
   * `countSleepers`: whether a sleeping invocation counts.
   */
  readonly pollers: {
    readonly first: number;
    readonly perMinute: number;
    readonly most: number;
    readonly countSleepers: boolean;
  };
}

/**
 * Most requests to DynamoDB and SQS take less than 10 ms, and a few take several times as long. Event sources start
 * with 5 concurrent invocations and add 300 per minute, up to the `maxConcurrency` of lib/flow-handlers.ts. Elect and
 * callback have a lower maximum in AWS, but also less work.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 */
export const AWS: Platform = {
  request: { p50: 5, p99: 20 },
  atOnce: 200,
  delivery: { p50: 12, p99: 60 },
  overhead: 2,
  memory: 0.5,
  pollers: { first: 5, perMinute: 300, most: 100, countSleepers: true },
};

/**
 * The local stack of `npm start`, measured with `npm run bench:agreement` on two cores: its engines run each statement of a
 * request one after the other. It adds a poller whenever all pollers of a queue are busy or asleep.
 */
export const LOCAL: Platform = {
  request: { p50: 3, p99: 12 },
  atOnce: 4,
  delivery: { p50: 4, p99: 16 },
  overhead: 1,
  memory: 0.5,
  pollers: { first: 5, perMinute: 60_000, most: 12, countSleepers: false },
};

/**
 * Latency of requests and deliveries, as a log-normal distribution given by two quantiles: most latencies are similar,
 * and a few are several times as long. If both quantiles are equal, the latency is constant.
 */
export interface Latency {
  /** Median, in ms. */
  readonly p50: Millis;
  /** 99th percentile, in ms. */
  readonly p99: Millis;
}

/** Standard deviations between the mean and the 99th percentile of a normal distribution. */
const P99_DEVIATIONS = 2.326;

/** Returns a generator of random latencies, in whole milliseconds. */
export const latencies = ({ p50, p99 }: Latency, random: Random): (() => Millis) => {
  const deviation = Math.log(p99 / p50) / P99_DEVIATIONS;
  return () => (deviation === 0 ? p50 : Math.round(p50 * Math.exp(deviation * normal(random))));
};

/** A random number of the standard normal distribution (Box and Muller, 1958). */
const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

interface Around {
  /** Virtual time. */
  readonly now: () => Millis;
  /** Sleeping invocations of the queue. */
  readonly sleepers: () => number;
  /** Called after each batch of messages, with its duration. @param bodies of its messages. */
  readonly onHandled: (took: Millis, bodies: readonly string[]) => void;
}

/** Limits the concurrent invocations of an event source: a few at first, more while messages wait. */
export const pollersOf = (
  { pollers: { first, perMinute, most, countSleepers } }: Platform,
  { now, sleepers, onHandled }: Around,
): Pollers => {
  let [allowed, askedAt] = [first, now()];
  const isFree = (inHand: number): boolean => inHand - (countSleepers ? 0 : sleepers()) < Math.floor(allowed);
  return {
    mayTake: (inHand) => {
      const from = askedAt;
      askedAt = now();
      if (isFree(inHand)) return true;
      // This is called only if messages wait, so all invocations are busy.
      allowed = Math.min(most, allowed + ((askedAt - from) * perMinute) / MINUTE);
      return isFree(inHand);
    },
    handled: onHandled,
  };
};
