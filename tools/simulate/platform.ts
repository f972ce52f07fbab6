/**
 * The platform that the steps run on: how long requests take, and how many invocations poll a queue. Assumptions, said in
 * one place; docs/how-to/simulate.md quotes them.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Pollers } from '../../src/virtual/habits.ts';
import type { Random } from '../../src/virtual/random.ts';

export interface Platform {
  /** A request to DynamoDB or SQS, and each further one of the same call beyond `atOnce` statements or messages. */
  readonly request: Latency;
  /** Statements, rows or messages that requests at once carry: 8 requests of 25 in AWS. */
  readonly atOnce: number;
  /**
   * From when a message can be had until a function that is free has it. Where that is quicker than the sender's next request,
   * the message overtakes what the sender writes with it.
   */
  readonly delivery: Latency;
  /** What an invocation takes beside its requests, in ms. */
  readonly overhead: Millis;
  /** Memory of a function in GB. */
  readonly memory: number;
  /**
   * Invocations of one event source at once: at first, how many more it gets a minute while messages wait, at the most; and
   * whether a message that sleeps counts as one of them.
   */
  readonly pollers: {
    readonly first: number;
    readonly perMinute: number;
    readonly most: number;
    readonly countSleepers: boolean;
  };
}

/**
 * Mostly single-digit milliseconds for DynamoDB and SQS, with a tail of several times that; event sources begin with 5
 * pollers and get 300 a minute, up to the `maxConcurrency` of lib/flow-handlers.ts (elect and callback have less of it, and less to do).
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
 * `npm start`: engines in processes beside this one, which have two cores between them, so that each statement of a request
 * takes its time (by `npm run bench:agreement`); another
 * poller whenever all of a queue's are busy, and for each message that sleeps.
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
 * How long requests and deliveries take, by chance: mostly about as long, and now and then several times that. A log-normal
 * distribution, by two of its quantiles; if they are equal, the time never varies.
 */
export interface Latency {
  /** Half of them take no longer than this, in ms. */
  readonly p50: Millis;
  /** 99 of 100 take no longer than this, in ms. */
  readonly p99: Millis;
}

/** The 99th percentile of a normal distribution is so many standard deviations above its mean. */
const P99_DEVIATIONS = 2.326;

/** Draws one latency after the other, in whole milliseconds. */
export const latencies = ({ p50, p99 }: Latency, random: Random): (() => Millis) => {
  const deviation = Math.log(p99 / p50) / P99_DEVIATIONS;
  return () => (deviation === 0 ? p50 : Math.round(p50 * Math.exp(deviation * normal(random))));
};

/** A number of the standard normal distribution (Box and Muller, 1958). */
const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

interface Around {
  /** In virtual time. */
  readonly now: () => Millis;
  /** Messages of the queue that sleep. */
  readonly sleepers: () => number;
  /** Is told how long each batch took. */
  readonly onHandled: (took: Millis, messages: number) => void;
}

/** How many invocations an event source lets take a queue's messages at once: a few, and more while messages wait. */
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
      // All are busy and messages wait, or nobody would have asked.
      allowed = Math.min(most, allowed + ((askedAt - from) * perMinute) / MINUTE);
      return isFree(inHand);
    },
    handled: onHandled,
  };
};
