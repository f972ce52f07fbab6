/**
 * The platform that the steps run on: how long requests take, and how many invocations poll a queue. Assumptions, said in
 * one place; docs/simulating.md quotes them.
 */
import type { Millis } from '../batching/ids.ts';

export interface Surroundings {
  /** A request to DynamoDB or SQS, in ms, and each further one of the same call beyond `atOnce` statements or messages. */
  readonly request: Millis;
  /** Statements, rows or messages that requests at once carry: 8 requests of 25. */
  readonly atOnce: number;
  /** From when a message can be had until a function that is free has it, in ms. */
  readonly delivery: Millis;
  /** What an invocation takes beside its requests, in ms. */
  readonly overhead: Millis;
  /** Memory of a function in GB. */
  readonly memory: number;
  /** Invocations of one event source at once: at first, how many more it gets a minute while messages wait, at the most. */
  readonly pollers: { readonly first: number; readonly perMinute: number; readonly most: number };
}

/**
 * Single-digit milliseconds for DynamoDB and SQS; event sources begin with 5 pollers and get 300 a minute, up to
 * the `maxConcurrency` of lib/flow-handlers.ts (elect and callback have less of it, and less to do).
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
 */
export const AWS: Surroundings = {
  request: 6,
  atOnce: 200,
  delivery: 10,
  overhead: 2,
  memory: 0.5,
  pollers: { first: 5, perMinute: 300, most: 100 },
};

/**
 * `npm start`: engines in processes beside this one, which have two cores between them (by `npm run bench:agreement`); another
 * poller whenever all of a queue's are busy.
 */
export const LOCAL: Surroundings = {
  request: 11,
  atOnce: 25,
  delivery: 10,
  overhead: 1,
  memory: 0.5,
  pollers: { first: 5, perMinute: 60_000, most: 12 },
};
