/**
 * Tells a batch at fault from a downstream that is down, if a call failed without results (5xx, or no answer). Pure.
 *
 * The operation's row counts recoveries: calls that succeeded although attempts had failed before them. A batch stores
 * this count when an attempt of it fails. A higher count at the next attempt proves that other calls succeeded after
 * that failure. One such proof is not enough, because an outage may have ended in between. Two are: the batch
 * failed twice, and the downstream worked after each failure.
 *
 * If no other call was made since the failure, only the batch itself can show whether the downstream works. Its next
 * attempts then call only a part, in place of the whole batch, so an outage costs no further call. If a part succeeds,
 * the downstream works, and the tasks at fault are in another part.
 */
import type { RetryPolicy } from '../config/policies.ts';
import type { Operation } from '../config/resolved.ts';
import type { Millis, TaskId } from '../ids.ts';
import { isHalfOpen, type OperationState, wasOpenLately } from '../operations/slots.ts';
import type { Batch } from './batch.ts';
import { groupsOf } from './bisect.ts';

export interface Suspicion {
  /** The recoveries of the operation when the batch's last attempt failed. */
  readonly recoveries: number;
  /** Failed attempts of the batch after which other calls succeeded. */
  readonly proofs: number;
  /** Whether the batch has had further attempts, in parts, after its attempts were used up. */
  readonly isExtended?: boolean;
  /** Attempts in parts since a task last succeeded or failed, even if the batch was called whole in between. @default 0 */
  readonly inVain?: number;
}

/** Proofs after which a batch is at fault. */
const ENOUGH = 2;

type Suspected = Pick<Batch, 'suspicion'>;

/** Whether other calls of the operation have succeeded since the batch's last attempt failed. */
export const isProven = ({ suspicion }: Suspected, { recoveries }: Pick<OperationState, 'recoveries'>): boolean =>
  suspicion !== undefined && recoveries > suspicion.recoveries;

/** The proofs against a batch, including the one that the operation's row shows now. */
export const proofsAgainst = (batch: Suspected, state: Pick<OperationState, 'recoveries'>): number =>
  (batch.suspicion?.proofs ?? 0) + (isProven(batch, state) ? 1 : 0);

/** How many calls with a member alone have failed, by the member's id. */
export const failuresAlone = ({
  open = [],
  parts = [],
  partFailures = [],
}: Pick<Batch, 'open' | 'parts' | 'partFailures'>): Map<TaskId, number> =>
  new Map(
    groupsOf(open, parts).flatMap(([id, other], index) =>
      id !== undefined && other === undefined ? [[id, partFailures[index] ?? 0] as const] : [],
    ),
  );

/**
 * How many attempts in parts may end without a result of any task: those of a task, and those that halve the parts, of
 * which several may contain tasks at fault.
 *
 * @param open the number of open members
 */
export const mostInVain = ({ maxAttempts }: Pick<RetryPolicy, 'maxAttempts'>, open: number): number =>
  maxAttempts + 2 * Math.ceil(Math.log2(Math.max(1, open)));

/** Whether the batch is at fault, so that its failures show nothing about the downstream. */
export const isAtFault = (batch: Suspected, state: Pick<OperationState, 'recoveries'>): boolean =>
  isProven(batch, state) && proofsAgainst(batch, state) >= ENOUGH;

/**
 * Whether an attempt calls the open members of a batch in parts, to isolate the tasks at fault.
 *
 * @param open the number of open members
 */
export const callsParts = (
  batch: Pick<Batch, 'suspicion' | 'parts' | 'counts'>,
  open: number,
  operation: Pick<Operation, 'retry' | 'circuit'>,
  state: Pick<OperationState, 'recoveries' | 'failures' | 'resumedAt'>,
  now: Millis,
): boolean => {
  if (!operation.retry.isolate || batch.suspicion === undefined) return false;
  const { succeeded = 0, failed = 0 } = batch.counts ?? {};
  if (batch.parts !== undefined && (succeeded + failed > 0 || batch.suspicion.isExtended)) return true;
  // If no other call has succeeded since the failure, only a part of this batch can show whether the downstream works.
  if (!isProven(batch, state)) return batch.parts !== undefined || open > 1;
  // The downstream may still be overloaded, and more, smaller calls would be a larger load.
  const { circuit } = operation;
  if (isHalfOpen(state, circuit) || wasOpenLately(state, circuit, now)) return false;
  return open > 1 && isAtFault(batch, state);
};
