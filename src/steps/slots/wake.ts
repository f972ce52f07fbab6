/**
 * Wake Targets that wait for room in their operation (W1 to W3). Each freed slot wakes one. After a pause, when a circuit
 * closes, and where the sweep finds some, all wake for which there is room. A Target is woken before its row goes, so that it may be
 * woken twice, but never forgotten.
 *
 * A few are woken at once. For many a message is sent to the elect function. It wakes {@link PACE} a second, which the operation's
 * key bears (all their rows share it), for some seconds, and then sends the message for the next invocation. Rows of woken
 * Targets are deleted, so the rows that are left say where to go on.
 *
 * However many such messages come, one invocation wakes. Each second it replaces the id in the operation's row by a new one; an
 * invocation that does not know the current id stops. If the one that wakes dies, its id counts for {@link DEAD_AFTER}; after that
 * its message, when it comes back, or the sweep begins again.
 */

import type { ResumeMessage, Waking } from '../../domain/batches/messages.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import type { WaitingTarget } from '../../domain/operations/slots.ts';
import { SECOND, STINT } from '../../domain/timings.ts';
import type { LeadDeps } from '../deps.ts';
import { freeSlotsOf } from './operation-slots.ts';

/** Of the oldest ones any: those that wake at the same time should not all choose the same. */
const OLDEST = 10;

/**
 * W1 to W3. Wakes one. Another function may wake the same one for another slot at this moment, and take its row first. Its second signal
 * is not lost: the function that receives it finds that the Target has a new fence, or that the batch has its slot, and wakes the next one.
 *
 * @returns whether one waited.
 */
export const wake = async (deps: LeadDeps, operation: OperationName): Promise<boolean> => {
  const waiting = await deps.operations.waiting(operation, OLDEST);
  const any = waiting[Math.floor(deps.machine.random() * waiting.length)];
  if (any) await wakeThese(deps, operation, [any]);
  return any !== undefined;
};

/**
 * Wakes one Target or batch, unless the operation is paused: the function that ends the pause wakes as many as there is room for. The pause is
 * read here, after the slot was freed, so one of the two functions sees what the other one wrote.
 */
export const wakeUnlessPaused = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  const { paused } = await deps.operations.read(operation);
  if (!paused) await wake(deps, operation);
};

/** So many are woken together: one after the other would take longer than a function has. */
export const TOGETHER = 50;

/** Wakes these. */
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

/** Targets are elected a leader, sealed batches are handled. */
const signal = async (queues: LeadDeps['queues'], waiting: readonly WaitingTarget[]): Promise<void> => {
  const targets = waiting.filter(({ batch }) => batch === undefined);
  const batches = waiting.flatMap(({ batch }) => batch ?? []);
  if (targets.length > 0)
    await queues.elect(targets.map(({ target, fence }) => ({ kind: 'elect', target, wake: fence })));
  await Promise.all(batches.map((batchId) => queues.batch({ kind: 'due', batchId, woken: true }, 0)));
};

/** Targets woken in a second: each costs a write of its operation's key, which bears a thousand, and a read or two. */
export const PACE = 250;
/** A message that continues the waking, and is on its way for longer, may be lost. */
const DEAD_AFTER: Millis = 10 * SECOND;

/** Wakes as many as there is room for; where they are many, by a message. */
export const wakeForFreeSlot = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  if (!(await wakeFew(deps, operation)))
    // The id is of no stored pause, so the message resumes nothing and only wakes.
    await deps.queues.resume({ kind: 'resume', operation, resume: deps.machine.token() }, 0);
};

/** Wakes those for whom there is room. @returns false, and wakes none, where they are many */
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

/** Wakes many, for as long as an invocation should take, and sends the message that goes on. */
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
      // Resume messages that came meanwhile ended because this invocation was waking, so look once more. Wait first: a woken Target
      // takes its slot a moment later, and until then that slot looks free and others would be woken for it.
      await wakeForFreeSlot(deps, operation);
      return;
    }
    waking = turn;
  } while (machine.now() < until);
  await queues.resume({ ...message, waking }, 0);
};

/** Wakes one second's share. @returns how to go on; `done` if all for whom there was room are woken; `others` if another invocation wakes them */
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
  // Refused, perhaps by ourselves: a client that repeats a request whose answer was lost finds its own write.
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

/** For how many there is room, and whether one has to find out first whether the downstream is there again. */
const look = async (deps: LeadDeps, operation: OperationName) => {
  const { circuit } = operationFor(deps.config, operation);
  const { state, free } = await freeSlotsOf(deps, operation);
  return { state, free, isHalfOpen: circuit !== null && state.failures >= circuit.failures };
};
