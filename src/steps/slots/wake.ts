/**
 * Wakes Targets that wait for a free slot of their operation (W1 to W3). Each freed slot wakes one. After a pause, when
 * a circuit closes, and in the sweep, as many are woken as slots are free. A Target is signalled before its queue row
 * is deleted, so a crash may wake it twice, but never loses it.
 *
 * Up to {@link TOGETHER} Targets are woken at once. For more, a message goes to the elect function, which wakes
 * {@link PACE} a second for some seconds and then sends the message for the next invocation. All rows share the
 * operation's key, which limits the pace. Rows of woken Targets are deleted, so the rows that are left show where to go
 * on.
 *
 * Only one invocation wakes at a time, however many such messages come. The waking invocation replaces the id in the
 * operation's row each second. An invocation whose message does not have the current id stops. If the waking invocation
 * dies, its id is valid for {@link DEAD_AFTER}. Then its message, when it comes back, or the sweep begins again.
 */

import type { ResumeMessage, Waking } from '../../domain/batches/messages.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import type { WaitingTarget } from '../../domain/operations/slots.ts';
import { SECOND, STINT } from '../../domain/timings.ts';
import type { LeadDeps } from '../deps.ts';
import { freeSlotsOf } from './operation-slots.ts';

/**
 * W1. The row is chosen at random among the oldest ones, so that functions that wake at the same time mostly choose
 * different Targets.
 */
const OLDEST = 10;

/**
 * W1 to W3. Wakes one waiting Target. Another function may choose the same one for another slot at this moment and
 * delete its row first. The second signal is not lost: its receiver finds a new fence, or that the batch has its slot,
 * and wakes the next Target.
 *
 * @returns whether a Target was waiting.
 */
export const wake = async (deps: LeadDeps, operation: OperationName): Promise<boolean> => {
  const waiting = await deps.operations.waiting(operation, OLDEST);
  const any = waiting[Math.floor(deps.machine.random() * waiting.length)];
  if (any) await wakeThese(deps, operation, [any]);
  return any !== undefined;
};

/**
 * Wakes one Target or batch, unless the operation is paused: the function that ends the pause wakes as many as slots
 * are free. The pause is read after the slot was freed, so one of the two functions sees the other's write.
 */
export const wakeUnlessPaused = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  const { paused } = await deps.operations.read(operation);
  if (!paused) await wake(deps, operation);
};

/** Number of Targets that are woken together. One by one would take longer than a function has. */
export const TOGETHER = 50;

/** Signals each waiting Target, then deletes its queue row. */
export const wakeThese = async (
  { operations, queues }: LeadDeps,
  operation: OperationName,
  waiting: readonly WaitingTarget[],
): Promise<void> => {
  for (let from = 0; from < waiting.length; from += TOGETHER) {
    const some = waiting.slice(from, from + TOGETHER);
    await signal(queues, some);
    await Promise.all(some.map((each) => operations.dequeue(operation, each)));
  }
};

/** A Target gets an elect message, a sealed batch its batch message. */
const signal = async (queues: LeadDeps['queues'], waiting: readonly WaitingTarget[]): Promise<void> => {
  const targets = waiting.filter(({ batch }) => batch === undefined);
  const batches = waiting.flatMap(({ batch }) => batch ?? []);
  if (targets.length > 0)
    await queues.elect(targets.map(({ target, fence }) => ({ kind: 'elect', target, wake: fence })));
  await Promise.all(batches.map((batchId) => queues.batch({ kind: 'due', batchId, woken: true }, 0)));
};

/**
 * Targets woken in a second. Each costs a write on its operation's key, which can take a thousand, and a read or two.
 */
export const PACE = 250;
/** If the message that continues the waking has not arrived by then, it counts as lost. */
const DEAD_AFTER: Millis = 10 * SECOND;

/** Wakes as many Targets as slots are free. If they are many, a message does it. */
export const wakeForFreeSlot = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  if (!(await wakeFew(deps, operation)))
    // No stored pause has this id, so the message ends no pause and only wakes Targets.
    await deps.queues.resume({ kind: 'resume', operation, resume: deps.machine.token() }, 0);
};

/** Wakes as many Targets as slots are free. @returns false, and wakes none, if they are many. */
export const wakeFew = async (deps: LeadDeps, operation: OperationName): Promise<boolean> => {
  const { free, isHalfOpen } = await look(deps, operation);
  if (free === 0) return true;
  if (isHalfOpen) {
    await wake(deps, operation);
    return true;
  }
  const waiting = await deps.operations.waiting(operation, Math.min(TOGETHER + 1, free));
  if (waiting.length > TOGETHER) return false;
  await wakeThese(deps, operation, waiting);
  return true;
};

/** Wakes many Targets for as long as an invocation should take, then sends the message that goes on. */
export const wakeMany = async (deps: LeadDeps, message: ResumeMessage): Promise<void> => {
  const { queues, machine } = deps;
  const { operation } = message;
  const until = machine.now() + STINT;
  let waking = message.waking;
  do {
    const began = machine.now();
    const turn = await wakeSome(deps, operation, waking);
    if (turn === 'others') return;
    await machine.sleep(Math.max(0, began + SECOND - machine.now()));
    if (turn === 'done') {
      // Resume messages that came meanwhile ended because this invocation was waking, so look once more. Wait first: a
      // woken Target takes its slot a moment later. Until then its slot looks free, and another Target would be woken
      // for it.
      await wakeForFreeSlot(deps, operation);
      return;
    }
    waking = turn;
  } while (machine.now() < until);
  await queues.resume({ ...message, waking }, 0);
};

/**
 * Wakes the Targets of one second.
 * @returns how to go on: `done` if no more are to be woken, `others` if another invocation wakes them.
 */
const wakeSome = async (
  deps: LeadDeps,
  operation: OperationName,
  last: Waking | undefined,
): Promise<Waking | 'done' | 'others'> => {
  const { operations, machine } = deps;
  const { state, free, isHalfOpen } = await look(deps, operation);
  const now = machine.now();
  const { waking } = state;
  if (waking && waking.id !== last?.id && waking.at > now - DEAD_AFTER) return 'others';
  const id = machine.token();
  // The write may have been refused because of this function's own write: the client repeats a request whose response
  // was lost.
  const isMine =
    (await operations.markWaking(operation, waking?.id, { id, at: now })) ||
    (await operations.read(operation)).waking?.id === id;
  if (!isMine) return 'others';
  const left = isHalfOpen ? 0 : Math.min(free, last?.left ?? Number.POSITIVE_INFINITY);
  const most = Math.min(PACE, left);
  const some = most > 0 ? await operations.waiting(operation, most) : [];
  await wakeThese(deps, operation, some);
  if (some.length === PACE && left > PACE) return { id, ...(Number.isFinite(left) ? { left: left - PACE } : {}) };
  await operations.markWaking(operation, id, undefined);
  return 'done';
};

/** The number of free slots, and whether one batch has to test the downstream first (O4). */
const look = async (deps: LeadDeps, operation: OperationName) => {
  const { circuit } = operationFor(deps.config, operation);
  const { state, free } = await freeSlotsOf(deps, operation);
  return { state, free, isHalfOpen: circuit !== null && state.failures >= circuit.failures };
};
