/**
 * Wakes Targets that wait for a free slot of their operation (W1 to W3). When a slot is freed, one Target is woken.
 * After a pause, when a circuit closes, and in the sweep, as many Targets are woken as slots are free. A Target is
 * signalled before its queue row is deleted. So after a crash a Target may be woken twice, but no Target is forgotten.
 *
 * Up to {@link TOGETHER} Targets are woken at once. If more must be woken, a message is sent to the elect function,
 * which wakes {@link PACE} Targets per second for some seconds and then sends the message for the next invocation. The
 * rate is limited because all queue rows have the operation's partition key. The rows of woken Targets are deleted, so
 * the next invocation continues with the rows that are left.
 *
 * Only one invocation wakes Targets at a time, even if there are several such messages. The waking invocation replaces
 * the id in the operation's row each second. An invocation whose message does not have the current id stops. If the
 * waking invocation dies, its id stays valid for {@link DEAD_AFTER}. After that, the invocation that receives its
 * message again, or the sweep, continues the waking.
 */

import type { ResumeMessage, Waking } from '../../domain/batches/messages.ts';
import { mostPromising, probeAmong, timeForTest } from '../../domain/batches/probe.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import {
  isHalfOpen,
  isOfCircuit,
  type OperationState,
  turnOf,
  type WaitingTarget,
  wasOpenLately,
} from '../../domain/operations/slots.ts';
import { SECOND, STINT } from '../../domain/timings.ts';
import type { LeadDeps } from '../deps.ts';
import { freeSlotsOf } from './operation-slots.ts';

/**
 * W1. The number of oldest rows from which one is chosen at random, so that functions that wake at the same time
 * usually choose different Targets.
 */
const OLDEST = 10;

/**
 * W1 to W3. Wakes one waiting Target. At the same moment, another function may choose the same Target for another slot
 * and delete its row first. The second signal is not lost: the function that receives it finds a new fence, or finds
 * that the batch already holds a slot, and wakes the next Target.
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
 * Wakes one waiting Target or batch, unless the operation is paused. At the end of a pause, as many Targets are woken
 * as slots are free. The pause is read after the slot was freed, so at least one of the two functions sees the other's
 * write.
 */
export const wakeUnlessPaused = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  const state = await deps.operations.read(operation);
  if (state.paused) return;
  const { circuit } = operationFor(deps.config, operation);
  // O4. For a while after the circuit has closed, the most promising Target and one that has waited long take turns.
  const needsTest = state.resumedAt !== undefined && isHalfOpen(state, circuit);
  const { now, random } = deps.machine;
  if (needsTest || (wasOpenLately(state, circuit, now()) && random() < 0.5)) await wakeProbe(deps, operation);
  else await wake(deps, operation);
};

/** O4. Wakes the Target or batch that tests the downstream. */
const wakeProbe = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  const probe = probeAmong(await waitingAtEnds(deps, operation), deps.machine.random());
  if (probe) await wakeThese(deps, operation, [probe]);
};

/** The number of rows at each end of the slot queue from which the most promising ones are chosen. */
const EACH_END = 50;

const waitingAtEnds = async ({ operations }: LeadDeps, operation: OperationName): Promise<readonly WaitingTarget[]> => {
  const first = await operations.waiting(operation, EACH_END);
  if (first.length < EACH_END) return first;
  const last = await operations.waiting(operation, EACH_END, 'last');
  const all = new Map([...first, ...last].map((each) => [turnOf(each), each]));
  return [...all.values()];
};

/** O4. How many Targets are woken first after the test of a downstream has succeeded. */
export const FIRST_STEP = 5;
/** The delay between two steps, in s. */
const STEP = 1;

/**
 * O4. Wakes waiting Targets in steps after the test of a downstream has succeeded, the most promising ones first. If the
 * failures of others open the circuit again, the promising ones have been called by then. Each step wakes twice as many
 * Targets as the one before. From {@link TOGETHER} on, all are woken.
 */
export const wakeInSteps = async (deps: LeadDeps, operation: OperationName, step: number): Promise<void> => {
  const { free } = await look(deps, operation);
  if (free === 0) return;
  const waiting = mostPromising(await waitingAtEnds(deps, operation));
  await wakeThese(deps, operation, waiting.slice(0, Math.min(step, free)));
  if (waiting.length <= step) return;
  await wakeLater(deps, operation, STEP, 2 * step < TOGETHER ? { step: 2 * step } : {});
};

/**
 * Sends a message that causes Targets to be woken. No stored pause has its random id, so it ends no pause.
 * @param delay in s
 */
const wakeLater = (
  { queues, machine }: LeadDeps,
  operation: OperationName,
  delay: number,
  more: Pick<ResumeMessage, 'step'> = {},
): Promise<void> => queues.resume({ kind: 'resume', operation, resume: machine.token(), ...more }, delay);

/** The largest number of Targets that are woken at once, without a message to the elect function. */
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

/** Sends an elect message to wake a Target, or a batch message to wake a sealed batch. */
const signal = async (queues: LeadDeps['queues'], waiting: readonly WaitingTarget[]): Promise<void> => {
  const targets = waiting.filter(({ batch }) => batch === undefined);
  const batches = waiting.flatMap(({ batch }) => batch ?? []);
  if (targets.length > 0)
    await queues.elect(targets.map(({ target, fence }) => ({ kind: 'elect', target, wake: fence })));
  await Promise.all(batches.map((batchId) => queues.batch({ kind: 'due', batchId, woken: true }, 0)));
};

/**
 * Number of Targets that are woken per second. Each costs one write and one or two reads on its operation's partition
 * key, which allows 1,000 writes per second.
 */
export const PACE = 250;
/** If the message that continues the waking does not arrive within this time, it counts as lost. */
const DEAD_AFTER: Millis = 10 * SECOND;

/**
 * Wakes as many Targets as slots are free. If there are many, this sends a message so that the elect function wakes
 * them.
 */
export const wakeForFreeSlot = async (deps: LeadDeps, operation: OperationName): Promise<void> => {
  if (!(await wakeFew(deps, operation))) await wakeLater(deps, operation, 0);
};

/**
 * Wakes as many Targets as slots are free. If several functions have opened the circuit at once, each has sent a resume
 * message. Only the message that ended the pause wakes Targets (O4).
 *
 * @param resume the id of a resume message, if one is handled
 * @returns false, and wakes none, if there are more than {@link TOGETHER}.
 */
export const wakeFew = async (deps: LeadDeps, operation: OperationName, resume?: string): Promise<boolean> => {
  const { state, free, needsTest } = await look(deps, operation);
  if (free === 0) return true;
  const hasEnded = resume !== undefined && resume === state.resumedId;
  if (needsTest) {
    if (hasEnded || !isBeingTested(deps, operation, state)) await wakeProbe(deps, operation);
    return true;
  }
  if (resume !== undefined && isOfCircuit(resume)) {
    if (hasEnded) await wakeInSteps(deps, operation, FIRST_STEP);
    return true;
  }
  const waiting = await deps.operations.waiting(operation, Math.min(TOGETHER + 1, free));
  if (waiting.length > TOGETHER) return false;
  await wakeThese(deps, operation, waiting);
  return true;
};

/** Whether a Target was woken for the test a short time ago, and may not have called yet. */
const isBeingTested = (
  { config, machine }: LeadDeps,
  operation: OperationName,
  { resumedAt }: Pick<OperationState, 'resumedAt'>,
): boolean => {
  const { circuit } = operationFor(config, operation);
  return circuit !== null && resumedAt !== undefined && machine.now() < resumedAt + timeForTest(circuit);
};

/** Wakes many Targets for some seconds, then sends the message for the next invocation. */
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
      // Check for free slots once more, because invocations for other resume messages stopped while this invocation was
      // waking. Wait first, because a woken Target takes its slot a moment later. Without the wait, that slot would
      // look free and another Target would be woken for it.
      await wakeForFreeSlot(deps, operation);
      return;
    }
    waking = turn;
  } while (machine.now() < until);
  await queues.resume({ ...message, waking }, 0);
};

/**
 * Wakes the Targets of one second.
 * @returns the mark with which to continue, `done` if no more Targets must be woken, or `others` if another invocation
 *   wakes them.
 */
const wakeSome = async (
  deps: LeadDeps,
  operation: OperationName,
  last: Waking | undefined,
): Promise<Waking | 'done' | 'others'> => {
  const { operations, machine } = deps;
  const { state, free, needsTest } = await look(deps, operation);
  const now = machine.now();
  const { waking } = state;
  if (waking && waking.id !== last?.id && waking.at > now - DEAD_AFTER) return 'others';
  const id = machine.token();
  // A refused write may mean that this function's own write succeeded: the client repeats a request whose response was
  // lost.
  const isMine =
    (await operations.markWaking(operation, waking?.id, { id, at: now })) ||
    (await operations.read(operation)).waking?.id === id;
  if (!isMine) return 'others';
  const left = needsTest ? 0 : Math.min(free, last?.left ?? Number.POSITIVE_INFINITY);
  const most = Math.min(PACE, left);
  const some = most > 0 ? await operations.waiting(operation, most) : [];
  await wakeThese(deps, operation, some);
  if (some.length === PACE && left > PACE) return { id, ...(Number.isFinite(left) ? { left: left - PACE } : {}) };
  await operations.markWaking(operation, id, undefined);
  return 'done';
};

/** The number of free slots, and whether one batch must test the downstream first (O4). */
const look = async (deps: LeadDeps, operation: OperationName) => {
  const { circuit } = operationFor(deps.config, operation);
  const { state, free } = await freeSlotsOf(deps, operation);
  return { state, free, needsTest: isHalfOpen(state, circuit) };
};
