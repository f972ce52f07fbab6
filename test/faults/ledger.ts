/** Compares what the producers, the downstream and the stack recorded for every task. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { ReceivedCall } from '../factories/downstream.ts';

/** A task that was acknowledged to its producer. */
export interface Sent {
  readonly payload: object;
  readonly target: string;
  /** How the task was sent, and when the acknowledgement came (ms since 1970). */
  readonly via: string;
  readonly at: number;
}

/** The end of a task, as the downstream answered it or as the stack shows it. */
export interface Outcome {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Ledger {
  readonly acknowledged: ReadonlyMap<string, Sent>;
  /** Every call that reached the downstream. */
  readonly calls: readonly ReceivedCall[];
  /** The downstream's results for a task, from calls that were answered completely. */
  readonly given: ReadonlyMap<string, readonly Outcome[]>;
  /** The final state of the tasks above, and of every other stored task. */
  readonly shown: ReadonlyMap<string, (Outcome & { readonly batchId?: string }) | undefined>;
}

/** The tasks with a fault. Each list must be empty. */
export interface Faults {
  /** Acknowledged or stored, and without an end. */
  readonly lost: readonly string[];
  /** Received by the downstream in more than one batch. */
  readonly doubled: readonly string[];
  /** Shown in another batch than the downstream received. */
  readonly misplaced: readonly string[];
  /** Shown with a result that the downstream did not give. */
  readonly different: readonly string[];
  /** Received by the downstream with another payload or Target than was sent. */
  readonly altered: readonly string[];
}

export const faultsIn = ({ acknowledged, calls, given, shown }: Ledger): Faults => {
  const batches = batchesOf(calls);
  const ids = [...new Set([...acknowledged.keys(), ...batches.keys(), ...shown.keys()])];
  const ended = ids.filter((id) => hasEnded(shown.get(id)));
  return {
    lost: ids.filter((id) => !hasEnded(shown.get(id))),
    doubled: [...batches].filter(([, each]) => each.size > 1).map(([id]) => id),
    misplaced: ended.filter((id) => !batches.get(id)?.has(shown.get(id)?.batchId ?? '')),
    different: ended.filter((id) => !given.get(id)?.some((each) => isSame(each, shown.get(id)))),
    altered: [...new Set(calls.flatMap((call) => alteredIn(call, acknowledged)))],
  };
};

export const hasEnded = (shown: Outcome | undefined): boolean =>
  shown?.status === 'succeeded' || shown?.status === 'failed';

const batchesOf = (calls: readonly ReceivedCall[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const batches = new Map<string, Set<string>>();
  for (const { batchId, items } of calls)
    for (const { id } of items) batches.set(id, (batches.get(id) ?? new Set()).add(batchId));
  return batches;
};

const isSame = (given: Outcome, shown: Outcome | undefined): boolean =>
  shown !== undefined &&
  isDeepStrictEqual([given.status, given.result, given.error], [shown.status, shown.result, shown.error]);

/** An id without an acknowledgement is not compared: its message arrived, but the answer was lost. */
const alteredIn = ({ target, items }: ReceivedCall, acknowledged: Ledger['acknowledged']): string[] =>
  items
    .filter(({ id, payload }) => {
      const sent = acknowledged.get(id);
      return sent && !(sent.target === target && isDeepStrictEqual(sent.payload, payload));
    })
    .map(({ id }) => id);
