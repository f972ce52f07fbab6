/**
 * Group: the leader of a Target turns its waiting tasks into batches, one after the other, until none is due.
 *
 * Every turn of the loop begins by reading the lock; {@link standingOf} lists what it can find there (rules G1 to G9).
 * A guard is used once: what it does ends with the lock released, or handed to the guard of the next fence.
 */
import { operationFor } from '../config/resolved.ts';
import type { Delivery } from '../ports.ts';
import { delaySeconds } from './delay.ts';
import type { Deps } from './deps.ts';
import { finishBatch } from './finish-batch.ts';
import { batchIdOf, operationOf } from './ids.ts';
import { hop, lead, lookAgain } from './lead.ts';
import { isHeld, type Lock, standingOf } from './lock.ts';
import type { GroupMessage } from './messages.ts';
import { type Due, due, type Waiting } from './policy.ts';
import { HANDOVER_MARGIN, LEASE } from './timings.ts';
import { type Next, untilDone } from './turns.ts';

type GroupDeps = Pick<Deps, 'config' | 'tasks' | 'waiting' | 'locks' | 'batches' | 'queues' | 'machine' | 'report'>;

/** What the steps of one group message share. */
interface Turn {
  readonly deps: GroupDeps;
  readonly message: GroupMessage;
  readonly delivery: Delivery;
}

export const group = (deps: GroupDeps, message: GroupMessage, delivery: Delivery): Promise<void> =>
  untilDone(`Target ${message.target}`, delivery, () => takeTurn({ deps, message, delivery }));

const takeTurn = async (turn: Turn): Promise<Next> => {
  const { deps, message } = turn;
  const lock = await deps.locks.read(message.target);
  const standing = standingOf(lock, message, deps.machine.now());
  switch (standing.is) {
    case 'leader-with-open-batch':
      // A hint meets its guard at work. One that comes back may have opened the batch itself, and stopped there.
      if (message.hint && turn.delivery.deliveries === 1) return 'end';
      await finishBatch(deps, message.target, standing.batch);
      return 'again';
    case 'leader':
      return groupAsLeader(turn, lock);
    case 'superseded':
      return 'end';
    case 'early':
      await deps.queues.group(message, delaySeconds(LEASE / 2));
      return 'end';
    case 'next':
      return takeFence(turn, lock);
    case 'released':
      return leadAgain(turn, lock);
    case 'foreign':
      deps.report({ event: 'foreign-message', target: message.target, fence: message.fence });
      return 'end';
  }
};

const firstRows = ({ deps, message: { target } }: Turn): Promise<readonly Waiting[]> =>
  deps.waiting.first(target, operationFor(deps.config, operationOf(target)).batch.maxSize);

/** G2 to G5. */
const groupAsLeader = async (turn: Turn, lock: Lock): Promise<Next> => {
  const { deps, message, delivery } = turn;
  const rows = await firstRows(turn);
  if (rows.length === 0) {
    await deps.locks.release(message.target, message);
    // The read that follows sees a task that was registered while the lock still looked held.
    return 'again';
  }
  const policy = operationFor(deps.config, operationOf(message.target)).batch;
  const next = due(rows, policy, deps.machine.now(), lock.flushedAt);
  if (next.do === 'seal' && delivery.timeLeft() >= HANDOVER_MARGIN) return openBatch(turn, lock, rows, next);
  if (next.do === 'wait' && message.hint) return 'end';
  return waitForMore(turn, lock, next);
};

/** G4. A rest below a second is slept through, anything longer is the next guard's. */
const waitForMore = async ({ deps, message, delivery }: Turn, lock: Lock, next: Due): Promise<Next> => {
  const { locks, queues, machine } = deps;
  const { target, fence } = message;
  const now = machine.now();
  const wait = next.do === 'wait' ? hop(next.until, now) : 0;
  const delay = delaySeconds(wait);
  if (next.do === 'wait' && delay === 0 && delivery.timeLeft() >= HANDOVER_MARGIN) {
    await machine.sleep(wait);
    return 'again';
  }
  const token = machine.token();
  await queues.group({ target, fence: fence + 1, token }, delay);
  const handedOver = await locks.handOver(target, message, { token, seen: lock, now, until: now + wait + LEASE });
  if (!handedOver && (await locks.read(target)).holder !== token) return 'again';
  await lookAgain(deps, { target, fence: fence + 1, token }, wait);
  return 'end';
};

/** G5. */
const openBatch = async (
  { deps, message }: Turn,
  lock: Lock,
  rows: readonly Waiting[],
  next: Due & { do: 'seal' },
): Promise<Next> => {
  const { target, fence } = message;
  const round = lock.round + 1;
  const batch = batchIdOf(target, fence, round);
  const until = Math.max(lock.lockedUntil, deps.machine.now() + LEASE);
  // Refused, perhaps by ourselves (a client repeats a request whose answer was lost). A guard would see to it in its
  // next turn, a hint would leave it to the guard, which may sleep for long.
  const by = deps.machine.token();
  const isMine =
    (await deps.locks.openBatch(target, message, { batch, round, by, until })) ||
    (await deps.locks.read(target)).openedBy === by;
  if (isMine) await finishBatch(deps, target, batch, { rows: rows.slice(0, next.take), because: next.because });
  return 'again';
};

/** G8. */
const takeFence = async (turn: Turn, lock: Lock): Promise<Next> => {
  const { deps, message } = turn;
  const { target, fence, token } = message;
  if (lock.holder === undefined && !lock.openBatch && (await firstRows(turn)).length === 0)
    return (await deps.locks.burn(target, fence, lock.fence, deps.machine.now())) ? 'end' : 'again';
  const now = deps.machine.now();
  if (isHeld(lock, now)) return 'again';
  const won = await deps.locks.acquire(target, { fence, token, seen: lock, now, until: now + LEASE });
  if (won) deps.report({ event: 'led', target, fence, takenOver: lock.holder !== undefined });
  return 'again';
};

/** G9. */
const leadAgain = async (turn: Turn, lock: Lock): Promise<Next> => {
  const rows = await firstRows(turn);
  if (rows.length === 0) return 'end';
  return (await lead(turn.deps, turn.message.target, lock, rows)) ? 'end' : 'again';
};
