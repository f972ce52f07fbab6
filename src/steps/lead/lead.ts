/** Lead: take a Target's free lock, with a guard message that sees to the Target should we not (rules L1 to L3). */

import type { Lock } from '../../domain/batches/lock.ts';
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { due, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { delayPast, delaySeconds } from '../../domain/delay.ts';
import { type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { LEASE, MAX_DELAY, SOON } from '../../domain/timings.ts';
import type { Deps } from '../deps.ts';

type LeadDeps = Pick<Deps, 'config' | 'waiting' | 'locks' | 'queues' | 'machine' | 'report'>;

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
  { config, waiting, queues, machine }: Pick<Deps, 'config' | 'waiting' | 'queues' | 'machine'>,
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
