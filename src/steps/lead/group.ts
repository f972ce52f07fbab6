/**
 * Group: the leader of a Target turns its waiting tasks into batches, one after the other, until none is due.
 *
 * Each turn of the loop reads the lock and applies the rule for its state (G1 to G9; {@link guardStatusOf} lists the
 * cases). If the function leads the Target, it finishes an open batch and settles tasks that ended. Then it opens a
 * batch, waits or releases the lock. A guard is used only once: the function that receives it leads until the lock is
 * released or handed over to the guard of the next fence.
 */

import { guardStatusOf, historyOf, isClosed, isHeld, type Lock } from '../../domain/batches/lock.ts';
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { type Due, due, firstExpiry, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { batchIdOf, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import type { Grant } from '../../domain/limits/bucket.ts';
import { leaseOf } from '../../domain/limits/limits.ts';
import { type Layout, largestCapOf } from '../../domain/operations/slot-pages.ts';
import { type Slot, slotOf } from '../../domain/operations/slots.ts';
import { delayPast, delaySeconds, HANDOVER_MARGIN, STINT } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import { type Next, untilDone } from '../contention.ts';
import type { GroupDeps } from '../deps.ts';
import { endLeases } from '../limits/leases.ts';
import { takeOperationSlot, waitForOperationSlot } from '../slots/operation-slots.ts';
import { freeTargetSlotIfOver, isTargetFull, pagesOfTarget, takeTargetSlot } from '../slots/target-slots.ts';
import { wake } from '../slots/wake.ts';
import { settle, settlementsOf } from '../tasks/settle.ts';
import { countFirst } from './count-under-way.ts';
import { hop, isNothingLeft, lead, lookAgain } from './elect-leader.ts';
import { finishBatch } from './finish-batch.ts';
import { momentsFor } from './moments.ts';
import { operationOfTurn, type Turn } from './turn.ts';

export const group = (deps: GroupDeps, message: GroupMessage, delivery: Delivery): Promise<void> => {
  const began = deps.machine.now();
  const turn: Turn = { deps, message, delivery, began, granted: message.granted, hasOpened: false };
  return untilDone(`Target ${message.target}`, delivery, () => takeTurn(turn));
};

const takeTurn = async (turn: Turn): Promise<Next> => {
  const { deps, message } = turn;
  const lock = await deps.locks.read(message.target);
  const status = guardStatusOf(lock, message, deps.machine.now());
  switch (status.is) {
    case 'leader-with-open-batch':
      // G1. On the first delivery of a hint, the function that handles the guard opened the batch and is finishing it.
      // If the hint was delivered before, the earlier invocation may have opened the batch and died.
      if (message.hint && turn.delivery.deliveries === 1) return 'end';
      await finishBatch(deps, message.target, status.batch);
      return 'again';
    case 'leader':
      if (!(await isNothingLeft(deps, message.target, lock))) return groupAsLeader(turn, lock);
      await deps.locks.release(message.target, message);
      return 'again';
    case 'superseded':
      return 'end';
    case 'early':
      return awaitHandOver(turn, lock);
    case 'next':
      return (await isNothingLeft(deps, message.target, lock)) ? 'end' : takeFence(turn, lock);
    case 'released':
      return (await isNothingLeft(deps, message.target, lock)) ? 'end' : leadAgain(turn, lock);
    case 'foreign':
      deps.report({ event: 'foreign-message', target: message.target, fence: message.fence });
      return 'end';
  }
};

const firstRows = (turn: Turn): Promise<readonly Waiting[]> =>
  turn.deps.waiting.first(turn.message.target, operationOfTurn(turn).batch.maxSize);

/** G2 to G5. Settles tasks that ended. If there are none, it opens a batch, waits, or releases the lock. */
const groupAsLeader = async (turn: Turn, lock: Lock): Promise<Next> => {
  const { deps, message } = turn;
  const { batch: policy, concurrency } = operationOfTurn(turn);
  const rows = isClosed(lock, concurrency, deps.locks.pageSize) ? [] : await firstRows(turn);
  if (rows.length === 0) {
    await passOn(turn, lock);
    if (await deps.locks.release(message.target, message)) await endUnused(turn, lock);
    // G3. Read the rows again after the release, to find a task that was registered while the lock was still held.
    return 'again';
  }
  const now = deps.machine.now();
  const ended = settlementsOf(rows, now);
  if (ended.length > 0) {
    await settle(deps, message.target, ended);
    return 'again';
  }
  const next = due(rows, policy, now, lock.flushedAt);
  if (next.do === 'seal' && mayGoOn(turn)) return openBatch(turn, lock, next);
  if (next.do === 'wait' && message.hint && !turn.hasOpened) return leaveToGuard(turn, lock, rows, next.until);
  return waitForMore(turn, lock, next);
};

/**
 * G4. Stops handling a hint that arrived before the batch is due. If a task expires before the guard is delivered, this
 * sends another hint for that time. If the hint brought a moment, the batch was due when the Target began to wait, and
 * its first tasks have ended since. The guard may come much later then, so this sends a hint for the time at which the
 * other tasks are due.
 */
const leaveToGuard = async (turn: Turn, lock: Lock, rows: readonly Waiting[], until: Millis): Promise<Next> => {
  const { deps, message } = turn;
  const { lockedUntil, round } = lock;
  if (turn.granted?.round === round) {
    await endUnused(turn, lock);
    const { target, fence, token } = message;
    const look = { target, fence, token, hint: true, granted: { ...turn.granted, grants: [] } };
    await deps.queues.group(look, delayPast(Math.min(until, firstExpiry(rows)), deps.machine.now()));
    return 'end';
  }
  const expiry = firstExpiry(rows);
  if (expiry < lockedUntil - leaseOf(operationOfTurn(turn)))
    await deps.queues.group(message, delayPast(expiry, deps.machine.now()));
  return 'end';
};

/**
 * G4. Whether this leader may open another batch, or sleep until one is due. It must hand over when its function has
 * little time left, or after {@link STINT}. Without that limit, a function could lead one busy Target until its
 * timeout, and other Targets would wait if more Targets have work than there are concurrent functions. A leader with
 * moments for its batch opens it first, because the next leader would not have them.
 */
const mayGoOn = ({ deps: { machine }, delivery, began, granted }: Turn): boolean =>
  delivery.timeLeft() >= HANDOVER_MARGIN && (granted !== undefined || machine.now() < began + STINT);

/** G4. Sleeps if the wait is shorter than a second. Otherwise this sends the next guard, then hands over to it. */
const waitForMore = async (turn: Turn, lock: Lock, next: Due): Promise<Next> => {
  const { deps, message } = turn;
  const { locks, queues, machine } = deps;
  const { target, fence } = message;
  const now = machine.now();
  const wait = next.do === 'wait' ? hop(next.until, now) : 0;
  const delay = delaySeconds(wait);
  if (next.do === 'wait' && delay === 0 && mayGoOn(turn)) {
    await machine.sleep(wait);
    return 'again';
  }
  const token = machine.token();
  await queues.group({ target, fence: fence + 1, token }, delay, 'new');
  if (wait > 0) await passOn(turn, lock);
  const handedOver = await locks.handOver(target, message, {
    token,
    seen: lock,
    now,
    until: now + wait + leaseOf(operationOfTurn(turn)),
    waits: wait > 0,
  });
  if (!handedOver && (await locks.read(target)).holder !== token) return 'again';
  await lookAgain(deps, { target, fence: fence + 1, token }, wait);
  return 'end';
};

/**
 * G3, G4, G5b. If a Target was woken for a slot and does not take the slot, its leader wakes the next Target, because
 * no other function would. The leader does this while the lock still shows that the Target was blocked. If the leader
 * dies afterwards, its guard is delivered again, and the next Target is woken again.
 */
const passOn = async ({ deps, message }: Turn, { blocked }: Lock): Promise<void> => {
  if (blocked !== undefined) await wake(deps, operationOf(message.target));
};

/** G5. Takes the slots, then opens the batch and finishes it. */
const openBatch = async (turn: Turn, lock: Lock, next: Due & { do: 'seal' }): Promise<Next> => {
  const { deps, message } = turn;
  const { target, fence } = message;
  const { perTarget: cap } = operationOfTurn(turn).concurrency;
  if (cap !== null && lock.uncountedAt !== undefined) return countFirst(deps, message, lock, lock.uncountedAt);
  const ready = await momentsFor(turn, lock, next.rows);
  if (ready === 'waits') return 'end';
  if (ready === 'again') return 'again';
  if (ready === 'blocked') {
    await giveUpFor(turn, lock, next.rows, unusedGrants(turn, lock));
    return 'again';
  }
  const { grants, rows } = ready;
  const round = lock.round + 1;
  const slot = slotOf(target, fence, round);
  const layout = pagesOfTarget(deps, target, lock);
  const { slotPage, targetPage } = await takeSlots(deps, target, lock, slot, layout);
  if (slotPage === undefined) {
    // If the Target has no place for another batch, it cannot use the slot of its operation for which it was woken. So
    // wake another Target.
    if (layout && targetPage === undefined) await passOn(turn, lock);
    await giveUpFor(turn, lock, rows, grants);
    // G5b. Free the place only after the lock is blocked. Until then, another delivery of this guard may open the batch
    // and use the place.
    await freeTargetSlotIfOver(deps, target, slot, targetPage);
    return 'again';
  }
  const batch = batchIdOf(target, fence, round);
  // The place may be on a page beyond this cap: a function with a larger cap may have taken it for the same guard and
  // died.
  const largestCap = layout && Math.max(largestCapOf(layout, lock), (targetPage ?? 0) * layout.size);
  const perTarget = layout ? null : cap;
  const now = deps.machine.now();
  const until = Math.max(lock.lockedUntil, now + leaseOf(operationOfTurn(turn)));
  const uncountedAt = cap === null ? now : undefined;
  // A refused write may mean that this function's own write succeeded: the client repeats a request whose response was
  // lost. So compare the token `by`. Without this comparison, a function that handles a hint would leave the open batch
  // to the guard, which may be delayed for long.
  const by = deps.machine.token();
  const isMine =
    (await deps.locks.openBatch(target, message, { batch, round, by, until, perTarget, largestCap, uncountedAt })) ||
    (await deps.locks.read(target)).openedBy === by;
  if (isMine) {
    turn.hasOpened = true;
    await finishBatch(deps, target, batch, { rows, because: next.because, slotPage, targetPage, grants });
  }
  // If the batch was opened by another delivery and has ended, its place was freed before this function took it again.
  else await freeTargetSlotIfOver(deps, target, slot, targetPage);
  return 'again';
};

/** G5a. Takes a place in the Target, if the Target's places are on pages, and then a slot of the operation. */
const takeSlots = async (
  deps: GroupDeps,
  target: Target,
  lock: Lock,
  slot: Slot,
  layout: Layout | undefined,
): Promise<{ readonly slotPage: number | undefined; readonly targetPage: number | undefined }> => {
  const targetPage = layout ? await takeTargetSlot(deps, target, lock, slot, layout) : undefined;
  if (layout && targetPage === undefined) return { slotPage: undefined, targetPage };
  const isCapped = operationFor(deps.config, operationOf(target)).concurrency.perTarget !== null;
  return {
    slotPage: await takeOperationSlot(deps, target, slot),
    targetPage: targetPage ?? (isCapped ? 0 : undefined),
  };
};

/**
 * G5b. Blocks the Target, because no slot is free. Tasks that arrive before a slot is free still join the batch.
 *
 * @param grants moments for the batch. Their leases end, so that others may call meanwhile.
 */
const giveUpFor = async (
  { deps, message }: Turn,
  { round }: Lock,
  rows: readonly Waiting[],
  grants: readonly Grant[],
): Promise<void> => {
  const { target } = message;
  const at = Math.min(...rows.map((row) => row.at));
  if (!(await deps.locks.block(target, message, { round, at }))) return;
  deps.report({ event: 'blocked', operation: operationOf(target), target });
  await endLeases(deps, grants);
};

/** The moments that the message brought for this round. */
const unusedGrants = ({ granted }: Turn, { round }: Lock): readonly Grant[] =>
  granted?.round === round ? granted.grants : [];

/**
 * Ends the leases of moments that no batch needs, because all tasks have ended. SQS may have delivered the message
 * twice, so the lock must show that no other function has opened a batch with these moments.
 */
const endUnused = async (turn: Turn, lock: Lock): Promise<void> => {
  const { deps, message } = turn;
  const leased = unusedGrants(turn, lock).filter(({ lease }) => lease !== undefined);
  if (leased.length === 0) return;
  const { fence, round } = await deps.locks.read(message.target);
  if (fence === message.fence && round === lock.round) await endLeases(deps, leased);
};

/**
 * G7. A leader sends the next guard before it writes the hand-over, so the guard may be delivered before that write.
 * The function that receives the guard then reads the lock again after {@link MOMENT}. If there is still no hand-over,
 * it sends the guard again, first with a delay of 1 s and then with growing delays until the lease ends. Only if the
 * leader has died does this last until the lease ends. Each delivery sends at most one message.
 */
const awaitHandOver = async ({ deps, message, began }: Turn, { lockedUntil }: Lock): Promise<Next> => {
  const { queues, machine, report } = deps;
  const { early = 0 } = message;
  if (early === 0 && machine.now() < began + MOMENT) {
    report({ event: 'early-guard', target: message.target, fence: message.fence });
    await machine.sleep(MOMENT);
    return 'again';
  }
  const untilExpiry = delayPast(lockedUntil, machine.now());
  await queues.group({ ...message, early: early + 1 }, Math.min(EARLY_BACKOFF ** early, untilExpiry));
  return 'end';
};

/**
 * Most hand-overs are written within `MOMENT`, in ms. The delay of an early guard grows by the factor `EARLY_BACKOFF`
 * each time.
 */
const MOMENT: Millis = 100;
const EARLY_BACKOFF = 4;

/** G8. Takes over from a leader that died, or skips the fence if there is nothing to lead for. */
const takeFence = async (turn: Turn, lock: Lock): Promise<Next> => {
  const { deps, message } = turn;
  const { target, fence, token } = message;
  const maySkipFence = lock.holder === undefined && !lock.openBatch && lock.blocked === undefined;
  if (
    maySkipFence &&
    (isClosed(lock, operationOfTurn(turn).concurrency, turn.deps.locks.pageSize) ||
      (await firstRows(turn)).length === 0)
  )
    return (await deps.locks.skipFence(target, fence, lock.fence, deps.machine.now())) ? 'end' : 'again';
  const now = deps.machine.now();
  if (isHeld(lock, now)) return 'again';
  const until = now + leaseOf(operationOfTurn(turn));
  const won = await deps.locks.acquire(target, { fence, token, seen: lock, now, until });
  if (won) deps.report({ event: 'led', target, fence, takenOver: lock.holder !== undefined });
  return 'again';
};

/** G9. Leads again after a release, if tasks wait. */
const leadAgain = async (turn: Turn, lock: Lock): Promise<Next> => {
  if (isClosed(lock, operationOfTurn(turn).concurrency, turn.deps.locks.pageSize)) return 'end';
  if (lock.blocked !== undefined) return waitForSlot(turn, lock, lock.blocked);
  const rows = await firstRows(turn);
  if (rows.length === 0) return 'end';
  return (await lead(turn.deps, turn.message.target, lock, rows)) ? 'end' : 'again';
};

/**
 * G9a. Joins the slot queue. If a slot turns out to be free, the Target gets a leader first, and its queue row is
 * deleted last. A row that is left after a crash only causes another wake.
 */
const waitForSlot = async (turn: Turn, lock: Lock, at: Millis): Promise<Next> => {
  const { deps, message } = turn;
  const { target, fence } = message;
  const layout = pagesOfTarget(deps, target, lock);
  if (layout && (await isTargetFull(deps, target, lock, layout))) return 'end';
  const waiting = { ...historyOf(lock), target, at, fence, by: deps.machine.token() };
  if (!(await waitForOperationSlot(deps, waiting))) return 'end';
  if (!(await lead(deps, target, lock, await firstRows(turn)))) return 'again';
  await deps.operations.dequeue(operationOf(target), waiting);
  return 'end';
};
