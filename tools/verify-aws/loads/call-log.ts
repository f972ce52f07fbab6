/** What the downstream function was called with, from its messages. */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Spread } from '../../simulate/outcome.ts';
import { Spreading } from '../../simulate/spread.ts';
import type { RecordedCall } from './recorded-call.ts';
import type { Sent } from './send.ts';

/** The calls of an operation. */
export interface Called {
  /** Tasks that were in a call. */
  readonly tasks: number;
  /** Tasks that were in the calls of two batches. */
  readonly twice: number;
  readonly batches: number;
  readonly calls: number;
  /** Tasks per batch. */
  readonly sizes: Spread;
  /** Time from a task's send to its first call, in ms, and the part of it beyond the policy's maximum. */
  readonly waits: Spread;
  readonly late: Spread;
}

export class CallLog {
  readonly #calls = new Map<string, RecordedCall>();
  /** For each task of an operation, its first batch and first call. */
  readonly #tasks = new Map<string, { readonly batchId: string; at: Millis }>();
  readonly #twice = new Set<string>();

  /** @param call may be recorded twice, because SQS may deliver a message twice */
  record(call: RecordedCall): void {
    const { batchId, attempt, at, ids } = call;
    this.#calls.set(`${batchId} ${attempt} ${at}`, call);
    for (const id of ids) {
      const known = this.#tasks.get(id);
      if (known === undefined) this.#tasks.set(id, { batchId, at });
      else {
        if (known.batchId !== batchId) this.#twice.add(id);
        known.at = Math.min(known.at, at);
      }
    }
  }

  /** How many of these tasks were in a call. */
  count(tasks: readonly Sent[]): number {
    return tasks.filter(({ id }) => this.#tasks.has(id)).length;
  }

  /**
   * @param maxWait the policy's longest wait
   * @param clockOffset how far the clock of AWS is ahead of this machine's
   */
  called(operation: string, tasks: readonly Sent[], maxWait: Millis, clockOffset: Millis): Called {
    const calls = [...this.#calls.values()].filter((call) => call.operation === operation);
    const [sizes, waits, late] = [new Spreading(), new Spreading(), new Spreading()];
    const batches = new Map(calls.map(({ batchId, ids }) => [batchId, ids.length]));
    for (const size of batches.values()) sizes.add(size);
    let found = 0;
    for (const { id, sentAt } of tasks) {
      const first = this.#tasks.get(id);
      if (first === undefined) continue;
      found += 1;
      const wait = Math.max(0, first.at - (sentAt + clockOffset));
      waits.add(wait);
      late.add(Math.max(0, wait - maxWait));
    }
    return {
      tasks: found,
      twice: tasks.filter(({ id }) => this.#twice.has(id)).length,
      batches: batches.size,
      calls: calls.length,
      sizes: sizes.spread,
      waits: waits.spread,
      late: late.spread,
    };
  }
}
