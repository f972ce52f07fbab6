/**
 * Elect: an elect message finds a leader for its Target (E1 to E3).
 *
 * 1. Read the lock. Stop if the Target has a leader or cannot open a batch now. Such a message costs one read, and no
 *    message is sent to check again.
 * 2. Read the waiting rows. Stop if there is nothing to do.
 * 3. Send a guard, then take the lock (L1 to L3). The guard is sent first, so that the function that receives it can
 *    take over if this function dies after it has taken the lock.
 */

import { isClosed, isHeld, type Lock } from '../../domain/batches/lock.ts';
import type { ElectMessage, GrantMessage, GroupMessage, ResumeMessage } from '../../domain/batches/messages.ts';
import { due, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor, operationNamed } from '../../domain/config/resolved.ts';
import { type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { leaseOf } from '../../domain/limits/limits.ts';
import { delayPast, delaySeconds, MAX_DELAY, SOON } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import type { LeadDeps } from '../deps.ts';
import { grantNext } from '../limits/grant.ts';
import { resumeOperation } from '../slots/pauses.ts';
import { wake } from '../slots/wake.ts';

export const electLeader = async (
  deps: LeadDeps,
  message: ElectMessage | ResumeMessage | GrantMessage,
  delivery: Pick<Delivery, 'deliveries'> = { deliveries: 1 },
): Promise<void> => {
  switch (message.kind) {
    case 'resume':
      return resumeOperation(deps, message);
    case 'grant':
      return grantNext(deps, message, delivery);
    case 'elect':
      return electFor(deps, message);
  }
};

const electFor = async (deps: LeadDeps, message: ElectMessage): Promise<void> => {
  const { target } = message;
  const isPlain = message.wake === undefined && message.resume === undefined;
  if (isPlain && (await isNothingLeft(deps, target))) return;
  const operation = operationFor(deps.config, operationOf(target));
  if (message.resume !== undefined) await deps.locks.resume(target, message.resume, deps.machine.now());
  for (;;) {
    const lock = await deps.locks.read(target);
    // E1. If the Target does not need the slot for which it was woken, wake the next waiting Target.
    if (
      message.wake !== undefined &&
      (lock.fence !== message.wake || isClosed(lock, operation.concurrency, deps.locks.pageSize))
    ) {
      await wake(deps, operation.operation);
      return;
    }
    if (isClosed(lock, operation.concurrency, deps.locks.pageSize)) return;
    if (isHeld(lock, deps.machine.now())) {
      // The leader may sleep for long, and during the pause no function sent it a hint for a batch that became full. So
      // send a hint now.
      if (message.resume !== undefined && lock.holder)
        await deps.queues.group({ target, fence: lock.fence, token: lock.holder, hint: true }, 0);
      return;
    }
    const isBlocked = lock.blocked !== undefined;
    // A blocked Target waits for a free slot. A new task is no reason to look for a leader.
    if (isBlocked && message.wake === undefined && message.resume === undefined) return;
    const rows = await deps.waiting.first(target, operation.batch.maxSize);
    // E2. Find a leader even without waiting rows if a batch is open, because it must be finished, or if the Target is
    // blocked, because its leader then wakes the next Target.
    if (rows.length === 0 && !lock.openBatch && !isBlocked) return;
    if (await lead(deps, target, lock, rows)) return;
  }
};

/**
 * Whether the operation of a Target is not configured and the Target has nothing left to group.
 *
 * If an operation was removed from the configuration, its messages fail and become dead letters until it is configured
 * again. They are kept because there may be no other message for the stored work. But if the work of a message is
 * finished, as for most repeated or late messages, the function stops handling the message. Otherwise the message would
 * be delivered again for as long as the operation is not configured.
 *
 * @param known the Target's lock, if the caller has read it.
 */
export const isNothingLeft = async (
  { config, locks, waiting }: LeadDeps,
  target: Target,
  known?: Lock,
): Promise<boolean> => {
  if (operationNamed(config, operationOf(target))) return false;
  const { openBatch, blocked } = known ?? (await locks.read(target));
  return openBatch === undefined && blocked === undefined && (await waiting.first(target, 1)).length === 0;
};

/**
 * Tries to become the leader of a Target whose lock is not held.
 *
 * @param lock the lock as it was read.
 * @param rows the Target's first waiting rows. They may be empty only if a batch is open or the Target is blocked.
 * @returns whether this function leads the Target now.
 */
export const lead = async (deps: LeadDeps, target: Target, lock: Lock, rows: readonly Waiting[]): Promise<boolean> => {
  const { config, locks, queues, machine, report } = deps;
  const now = machine.now();
  const operation = operationFor(config, operationOf(target));
  // The leader of a blocked Target starts at once, to use the free slot or wake the next Target.
  const next =
    lock.openBatch || lock.blocked !== undefined || rows.length === 0
      ? { do: 'seal' as const }
      : due(rows, operation.batch, now, lock.flushedAt);
  const wait = next.do === 'seal' ? 0 : hop(next.until, now);
  const fence = lock.fence + 1;
  const token = machine.token();
  // L2 before L3: a guard without a lock is harmless. A lock without a guard strands its Target if the leader dies.
  await queues.group({ target, fence, token }, delaySeconds(wait));
  const won = await locks.acquire(target, { fence, token, seen: lock, now, until: now + wait + leaseOf(operation) });
  // A refused write may mean that this function's own write succeeded: the client repeats a request whose response was
  // lost.
  if (!won && (await locks.read(target)).holder !== token) return false;
  report({ event: 'led', target, fence, takenOver: lock.holder !== undefined });
  await lookAgain(deps, { target, fence, token }, wait);
  return true;
};

/**
 * L3, G4. Reads the waiting rows once more after a lock was taken or handed over for a longer wait. If a batch is due
 * sooner, it sends a hint.
 *
 * A register function that read the lock before this write saw no sleeping leader and sent no hint, so a full batch
 * would wait for the guard. The register function writes its row and then reads the lock. The leader writes the lock
 * and then reads the rows. So at least one of the two sees the other's write.
 */
export const lookAgain = async (
  { config, waiting, queues, machine }: LeadDeps,
  guard: GroupMessage,
  wait: Millis,
): Promise<void> => {
  if (wait <= SOON) return;
  const policy = operationFor(config, operationOf(guard.target)).batch;
  const rows = await waiting.first(guard.target, policy.maxSize);
  if (rows.length === 0) return;
  const now = machine.now();
  const next = due(rows, policy, now);
  // Also send a hint for a task that expires before the guard is delivered, so that it is settled at its expiry.
  const delay = next.do === 'seal' ? 0 : delayPast(next.until, now);
  if (delay * 1_000 < wait) await queues.group({ ...guard, hint: true }, delay);
};

/** L1. The time until `until`, but at most the longest delay of an SQS message. */
export const hop = (until: Millis, now: Millis): Millis => Math.min(MAX_DELAY, Math.max(0, until - now));
