/** What the producers, the downstream and the stack each know of every task, and whether they agree. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { ReceivedCall } from '../factories/downstream.ts';

/** A task that a producer was told has been taken. */
export interface Sent {
  readonly payload: object;
  readonly target: string;
  /** How it was sent, and when that was acknowledged (ms since 1970). */
  readonly via: string;
  readonly at: number;
}

/** What became of a task: as the downstream answered, or as the stack shows it. */
export interface Outcome {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Ledger {
  readonly acknowledged: ReadonlyMap<string, Sent>;
  /** Every call that reached the downstream. */
  readonly calls: readonly ReceivedCall[];
  /** What the downstream answered about a task, in calls about that task and to the last byte. */
  readonly given: ReadonlyMap<string, readonly Outcome[]>;
  /** What the stack shows in the end: of the tasks above, and of every other that is stored. */
  readonly shown: ReadonlyMap<string, (Outcome & { readonly batchId?: string }) | undefined>;
}

/** The tasks that something is wrong with. Each list has to be empty. */
export interface Faults {
  /** Acknowledged or stored, and without an end. */
  readonly lost: readonly string[];
  /** Seen by the downstream in more than one batch. */
  readonly doubled: readonly string[];
  /** Shown in another batch than the one that the downstream saw. */
  readonly misplaced: readonly string[];
  /** With an end that the downstream never gave them. */
  readonly different: readonly string[];
  /** Handed to the downstream otherwise than they were sent, or under another Target. */
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

/** Of an id that nobody was told of nothing is known: its message was taken, and the answer lost. */
const alteredIn = ({ target, items }: ReceivedCall, acknowledged: Ledger['acknowledged']): string[] =>
  items
    .filter(({ id, payload }) => {
      const sent = acknowledged.get(id);
      return sent && !(sent.target === target && isDeepStrictEqual(sent.payload, payload));
    })
    .map(({ id }) => id);
