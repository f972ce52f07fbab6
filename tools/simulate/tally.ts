/** Counts the events of a simulation, in memory that does not grow with the trace. */

import { printElect } from '../../src/domain/batches/messages.ts';
import { type SealReason, waitEnd } from '../../src/domain/batches/policy.ts';
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import { type Config, operationFor } from '../../src/domain/config/resolved.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { LimitName, Millis, OperationName, TaskId } from '../../src/domain/ids.ts';
import { allLimits, usersOf } from '../../src/domain/limits/limits.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import type { Queues } from '../../src/ports/queues.ts';
import type { Spent } from '../../src/processes/units.ts';
import type { Heard } from './downstream.ts';
import type { LimitOutcome, OperationOutcome, Outcome, Usage } from './outcome.ts';
import { sqsRequestsFor } from './prices.ts';
import { Spreading } from './spread.ts';
import { Timeline } from './timeline.ts';

class OperationTally {
  tasks = 0;
  ended = { succeeded: 0, failed: 0 };
  batches = 0;
  members = 0;
  calls = 0;
  called: { readonly first: Millis; last: Millis } | undefined;
  throttled = 0;
  unanswered = 0;
  readonly sealedBy: Partial<Record<SealReason, number>> = {};
  readonly sizes = new Spreading();
  readonly waits = new Spreading();
  readonly late = new Spreading();

  outcome(operation: string, maxSize: number): OperationOutcome {
    const { tasks, ended, batches, sealedBy, sizes, waits, late, calls, called, throttled, unanswered } = this;
    return {
      operation,
      tasks,
      ...ended,
      batches,
      sealedBy,
      sizes: sizes.spread,
      fill: batches === 0 ? 0 : this.members / (batches * maxSize),
      waits: waits.spread,
      late: late.spread,
      calls,
      calledOver: called ? called.last - called.first : 0,
      throttled,
      unanswered,
    };
  }
}

/** Maximum number of reasons for refusals that are reported. */
const REASONS = 5;
/** Number of register messages that a producer sends in one request. */
const TOGETHER = 10;

export class Tally {
  readonly #config: Config;
  readonly #start: Millis;
  readonly #operations = new Map<string, OperationTally>();
  readonly #limits = new Map<LimitName, Spreading>();
  readonly #timeline = new Timeline();
  readonly #reasons = new Set<string>();
  readonly #invocations: Record<string, number> = {};
  #rejected = 0;
  #earlyGuards = 0;
  #writeUnits = 0;
  #readUnits = 0;
  #sqsRequests = 0;
  #sent = 0;
  #sentOneByOne = 0;
  #sentTogether = 0;
  /** Sizes of register messages that a producer would still gather for one request. */
  readonly #unsent: number[] = [];
  #lambdaMillis: Millis = 0;
  #lastSentAt: Millis = 0;
  #lastEndedAt: Millis = 0;

  constructor(config: Config, start: Millis) {
    this.#config = config;
    this.#start = start;
  }

  /** @param at time since the start of the trace @param bytes size of the register message */
  sent(at: Millis, bytes: number): void {
    this.#lastSentAt = at;
    this.#sent += 1;
    this.#sentOneByOne += sqsRequestsFor([bytes]);
    this.#unsent.push(bytes);
    if (this.#unsent.length === TOGETHER) this.#sentTogether += sqsRequestsFor(this.#unsent.splice(0));
    this.#timeline.count(at, 'arrived');
    this.#timeline.wait(at, 1);
  }

  /** Counts a task that is included in its first call, or that ended without a call. */
  waited(at: Millis): void {
    this.#timeline.wait(at, -1);
  }

  spent(spent: readonly Spent[]): void {
    for (const { write = 0, read = 0 } of spent) {
      this.#writeUnits += write;
      this.#readUnits += read;
    }
  }

  /** Counts SQS requests with messages of these sizes, in bytes. */
  requested(sizes: readonly number[]): void {
    this.#sqsRequests += sqsRequestsFor(sizes);
  }

  invoked(fn: string, took: Millis): void {
    this.#invocations[fn] = (this.#invocations[fn] ?? 0) + 1;
    this.#lambdaMillis += took;
  }

  ended(id: OperationName, how: 'succeeded' | 'failed', at: Millis): void {
    this.#of(id).ended[how] += 1;
    this.#lastEndedAt = at - this.#start;
  }

  /** @param isFirst whether this is the first call of the batch @param sentAt reads the send time of a task */
  heard({ call, answered }: Heard, isFirst: boolean, now: Millis, sentAt: (id: TaskId) => Millis): void {
    const tally = this.#of(call.operation);
    const { batch } = operationFor(this.#config, call.operation);
    tally.calls += 1;
    tally.called ??= { first: now, last: now };
    tally.called.last = now;
    if (answered === 'throttled') tally.throttled += 1;
    if (answered === 'unavailable') tally.unanswered += 1;
    this.#timeline.count(now - this.#start, 'calls');
    if (answered === 'throttled') this.#timeline.count(now - this.#start, 'throttled');
    if (!isFirst) return;
    for (const { id } of call.items) {
      const at = sentAt(id);
      tally.waits.add(now - at);
      tally.late.add(Math.max(0, now - waitEnd(at, batch)));
      this.waited(now - this.#start);
    }
  }

  readonly report = (event: FlowEvent): void => {
    switch (event.event) {
      case 'registered':
        this.#of(event.operation).tasks += event.tasks;
        return;
      case 'rejected':
        this.#rejected += event.messages;
        for (const reason of event.reasons) if (this.#reasons.size < REASONS) this.#reasons.add(reason);
        return;
      case 'sealed': {
        if (event.size === 0) return;
        const tally = this.#of(event.operation);
        tally.batches += 1;
        tally.members += event.size;
        tally.sizes.add(event.size);
        tally.sealedBy[event.because] = (tally.sealedBy[event.because] ?? 0) + 1;
        return;
      }
      case 'granted':
        this.#agesUnder(event.limit).add(event.waited);
        return;
      case 'early-guard':
        this.#earlyGuards += 1;
        return;
      default:
    }
  };

  get outcome(): Outcome {
    return {
      span: Math.max(this.#lastEndedAt, this.#lastSentAt),
      sentOver: this.#lastSentAt,
      operations: [...this.#operations].map(([name, tally]) =>
        tally.outcome(name, operationFor(this.#config, name as OperationName).batch.maxSize),
      ),
      limits: allLimits(this.#config).flatMap(([limit]) => this.#outcomeOf(limit)),
      rejected: this.#rejected,
      rejections: [...this.#reasons],
      earlyGuards: this.#earlyGuards,
      usage: this.#usage,
      produced: {
        messages: this.#sent,
        oneByOne: this.#sentOneByOne,
        tenAtOnce: this.#sentTogether + sqsRequestsFor(this.#unsent),
      },
      timeline: this.#timeline.stretches,
    };
  }

  get #usage(): Usage {
    return {
      writeUnits: this.#writeUnits,
      readUnits: this.#readUnits,
      sqsRequests: this.#sqsRequests,
      invocations: this.#invocations,
      lambdaMillis: this.#lambdaMillis,
    };
  }

  #outcomeOf(limit: LimitName): readonly LimitOutcome[] {
    const operations = usersOf(this.#config, limit);
    if (operations.length === 0) return [];
    const calls = operations.reduce((sum, name) => sum + this.#of(name).calls, 0);
    const ages = this.#agesUnder(limit).spread;
    return [{ limit, operations, calls, delayed: ages.count, ages }];
  }

  #agesUnder(limit: LimitName): Spreading {
    const ages = this.#limits.get(limit) ?? new Spreading();
    this.#limits.set(limit, ages);
    return ages;
  }

  #of(name: string): OperationTally {
    const tally = this.#operations.get(name) ?? new OperationTally();
    this.#operations.set(name, tally);
    return tally;
  }
}

export const bytesOf = (body: string): number => Buffer.byteLength(body);

/** Wraps queues to count their requests. Messages between elect, group and batch functions have no payload. */
export const countedQueues = (queues: Queues, tally: Tally): Queues => {
  const many =
    <T>(send: (all: readonly T[]) => Promise<void>, bodyOf: (each: T) => string) =>
    (all: readonly T[]): Promise<void> => {
      tally.requested(all.map((each) => bytesOf(bodyOf(each))));
      return send(all);
    };
  const one =
    <T>(send: (each: T, delay: number) => Promise<void>) =>
    (each: T, delay: number): Promise<void> => {
      tally.requested([0]);
      return send(each, delay);
    };
  return {
    register: many(queues.register, (body) => body),
    elect: many(queues.elect, printElect),
    resume: one(queues.resume),
    grant: one(queues.grant),
    group: one(queues.group),
    batch: one(queues.batch),
    reject: many(queues.reject, printRejection),
    callbacks: many(queues.callbacks, printCallback),
    giveUp: many(queues.giveUp, (body) => body),
  };
};
