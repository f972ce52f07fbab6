/**
 * Elect: one of many messages finds a Target a leader; the others cost one read each and never poll (rules E1 to E3). To lead is to
 * take a Target's free lock, with a guard message that sees to the Target should we not (rules L1 to L3).
 */

import { isClosed, isHeld, type Lock } from '../../domain/batches/lock.ts';
import type { ElectMessage, GroupMessage, ResumeMessage } from '../../domain/batches/messages.ts';
import { due, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor, operationNamed } from '../../domain/config/resolved.ts';
import { type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { delayPast, delaySeconds, LEASE, MAX_DELAY, SOON } from '../../domain/timings.ts';
import type { LeadDeps } from '../deps.ts';
import { resumeOperation } from '../slots/pauses.ts';
import { wake } from '../slots/wake.ts';

export const electLeader = async (deps: LeadDeps, message: ElectMessage | ResumeMessage): Promise<void> =>
  message.kind === 'resume' ? resumeOperation(deps, message) : electFor(deps, message);

const electFor = async (deps: LeadDeps, message: ElectMessage): Promise<void> => {
  const { target } = message;
  const isPlain = message.wake === undefined && message.resume === undefined;
  if (isPlain && (await isNothingLeft(deps, target))) return;
  const operation = operationFor(deps.config, operationOf(target));
  if (message.resume !== undefined) await deps.locks.resume(target, message.resume, deps.machine.now());
  for (;;) {
    const lock = await deps.locks.read(target);
    // What it was waked for was seen to by somebody else: the room is for the next one.
    if (
      message.wake !== undefined &&
      (lock.fence !== message.wake || isClosed(lock, operation.concurrency, deps.locks.pageSize))
    ) {
      await wake(deps, operation.operation);
      return;
    }
    if (isClosed(lock, operation.concurrency, deps.locks.pageSize)) return;
    if (isHeld(lock, deps.machine.now())) {
      // He may sleep for long, and nobody told him of a batch that became full while it was paused.
      if (message.resume !== undefined && lock.holder)
        await deps.queues.group({ target, fence: lock.fence, token: lock.holder, hint: true }, 0);
      return;
    }
    const isBlocked = lock.blocked !== undefined;
    // It waits for room: a task more does not make any.
    if (isBlocked && message.wake === undefined && message.resume === undefined) return;
    const rows = await deps.waiting.first(target, operation.batch.maxSize);
    // A batch that was left open is finished even when nobody waits behind it, and one that waited for room does not any more.
    if (rows.length === 0 && !lock.openBatch && !isBlocked) return;
    if (await lead(deps, target, lock, rows)) return;
  }
};

/**
 * Whether a Target's operation is not configured, and nothing of the Target is left to be grouped.
 *
 * A message of an operation that was taken out of the configuration comes back, as a dead letter if need be, until the operation is
 * configured again: its work is stored, and perhaps no other message points to it. Most messages that are repeated or late find that
 * work finished. Such a message ends; otherwise it would come back for as long as the operation is not configured.
 *
 * @param known its lock, if that was read
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
 * Tries to become the leader of a Target whose lock, as read, nobody holds.
 *
 * @param rows the Target's first waiting rows; none only if a batch is open, or it waited for room.
 * @returns whether it won.
 */
export const lead = async (deps: LeadDeps, target: Target, lock: Lock, rows: readonly Waiting[]): Promise<boolean> => {
  const { config, locks, queues, machine, report } = deps;
  const now = machine.now();
  // Who waited for room, and does not need it now, has to pass it on at once.
  const next =
    lock.openBatch || lock.blocked !== undefined || rows.length === 0
      ? { do: 'seal' as const }
      : due(rows, operationFor(config, operationOf(target)).batch, now, lock.flushedAt);
  const wait = next.do === 'seal' ? 0 : hop(next.until, now);
  const fence = lock.fence + 1;
  const token = machine.token();
  // L2 before L3: a guard without a lock is harmless, a lock without a guard strands its Target.
  await queues.group({ target, fence, token }, delaySeconds(wait));
  const won = await locks.acquire(target, { fence, token, seen: lock, now, until: now + wait + LEASE });
  // Refused, perhaps by ourselves: a client that repeats a request whose answer was lost finds its own write.
  if (!won && (await locks.read(target)).holder !== token) return false;
  report({ event: 'led', target, fence, takenOver: lock.holder !== undefined });
  await lookAgain(deps, { target, fence, token }, wait);
  return true;
};

/**
 * Looks once more after a lock was taken, or handed on, for a wait: a register that came in between saw a lock that
 * was free or about to seal, and left it at that; what it filled would now lie full until the wait is over. (It writes
 * its row and then reads the lock; we write the lock and then read the rows: one of us sees the other.)
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
  // What expires sooner than the guard comes is settled then.
  const delay = next.do === 'seal' ? 0 : delayPast(next.until, now);
  if (delay * 1_000 < wait) await queues.group({ ...guard, hint: true }, delay);
};

/** L1. How long to wait for `until`, as far as one delayed message reaches. */
export const hop = (until: Millis, now: Millis): Millis => Math.min(MAX_DELAY, Math.max(0, until - now));
