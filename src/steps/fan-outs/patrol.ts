/**
 * The patrol of fan-outs (T8), each minute with the sweep: it does what somebody who stopped half-way left undone, lets go
 * of those that nobody minds any more, and clears away the rows of those that have ended.
 *
 * It meets a fan-out after twice its age each time, by its sparse index: one that lives for seconds is never met.
 */
import pLimit from 'p-limit';
import { type FanOutId, isNumbered } from '../../domain/fan-out-ids.ts';
import {
  type FanOut,
  isDone,
  isIdle,
  isTooMany,
  type NodeCounts,
  SETTLED,
  type Walk,
} from '../../domain/fan-outs/fan-out.ts';
import { type Position, positionAt } from '../../domain/fan-outs/tree.ts';
import type { Millis } from '../../domain/ids.ts';
import { listOf } from '../../domain/lists/ids.ts';
import { MINUTE } from '../../domain/timings.ts';
import type { Clearing } from '../../ports/lists.ts';
import type { FanOutDeps, ListDeps } from '../deps.ts';
import { climb, finishSealed } from './complete.ts';
import { expire, failFast, sendEvent, takenFor } from './end.ts';
import { lookDown } from './progress.ts';

/** How long until the patrol looks at a fan-out first, and at the longest. */
const [FIRST_LOOK, LONGEST_PAUSE]: readonly [Millis, Millis] = [2 * MINUTE, 60 * MINUTE];
/** Fan-outs that are asked for at once, and visited at once. */
const [PAGE, VISITS] = [100, 8];
/** Rows that are deleted at once. */
const ROWS = 250;
/**
 * The position after the last node. From there a list's results are cleared: `END - n` means "go on with group n". 0.2.0 writes `END` alone,
 * and begins anew at any position beyond the nodes, so both releases can read these positions.
 */
const END = Number.MAX_SAFE_INTEGER;

/** When the patrol looks next at a fan-out of this age. */
export const nextLook = (createdAt: Millis, now: Millis): Millis =>
  now + Math.min(Math.max(now - createdAt, FIRST_LOOK), LONGEST_PAUSE);

/** @throws AggregateError of what failed, once each had its turn. */
export const patrolFanOuts = async (deps: ListDeps, mayGoOn: () => boolean): Promise<void> => {
  const visited = new Set<FanOutId>();
  const failures: unknown[] = [];
  for (;;) {
    // The index is a moment behind: it shows some once more that have been visited.
    const due = await deps.fanOuts.due(deps.machine.now(), PAGE + visited.size);
    const next = due.filter((id) => !visited.has(id));
    if (next.length === 0) break;
    await pLimit(VISITS).map(next, async (id) => {
      if (!mayGoOn()) return;
      visited.add(id);
      await visit(deps, id, mayGoOn).catch((cause: unknown) => failures.push(cause));
    });
    if (!mayGoOn()) break;
  }
  if (failures.length > 0) throw new AggregateError(failures, `fan-outs: ${failures.map(String).join('; ')}`);
};

/** Looks after one fan-out, if it is due. */
export const visit = async (deps: ListDeps, id: FanOutId, mayGoOn: () => boolean): Promise<void> => {
  const fanOut = await deps.fanOuts.read(id);
  if (fanOut?.checkAt === undefined || fanOut.checkAt > deps.machine.now()) return;
  if (fanOut.event) return sendEvent(deps, fanOut);
  return fanOut.ended ? clear(deps, fanOut, mayGoOn) : look(deps, fanOut, fanOut.checkAt, mayGoOn);
};

const look = async (deps: FanOutDeps, fanOut: FanOut, due: Millis, mayGoOn: () => boolean): Promise<void> => {
  const { config, fanOuts, machine, report } = deps;
  const { id, groups } = fanOut;
  const walk = fanOut.walk?.groups === groups ? fanOut.walk : undefined;
  const from = walk?.next ?? groups;
  const climbChild = async (position: Position, counts: NodeCounts): Promise<boolean> => {
    if (!isDone(fanOut, position, counts, fanOuts.width)) return true;
    await climb(deps, id, position, counts, true);
    return mayGoOn();
  };
  const sight = await lookDown(fanOuts, fanOut, from, mayGoOn, climbChild);
  const failed = sight.failed + (walk?.failed ?? 0);
  const seenAt = Math.max(sight.seenAt, walk?.seenAt ?? 0);
  const now = machine.now();
  if (sight.next !== undefined) {
    const rest: Walk = { next: sight.next, groups, failed, seenAt };
    await fanOuts.checkAgain(id, due, { checkAt: now, walk: rest });
    return;
  }
  const idle = { open: config.fanOuts.idleOpen, sealed: config.fanOuts.idleSealed };
  // Whoever sealed it may have stopped there: a top that had climbed before, or an empty one, has no slot that is empty.
  const after = fanOut.status === 'sealed' ? await finishSealed(deps, fanOut) : fanOut;
  if (after?.status === 'complete') report({ event: 'fan-out-repaired', fanOut: id });
  else if (isTooMany(fanOut, failed)) await failFast(deps, fanOut, failed);
  else if (isIdle(fanOut, seenAt, idle, now)) await expire(deps, fanOut, failed);
  // Refused where it has ended meanwhile: then it is due at another time.
  await fanOuts.checkAgain(id, due, { checkAt: nextLook(fanOut.createdAt, now) });
};

/**
 * The rows of a fan-out that has ended go, a part at a time where there are many; its header goes by itself, later. Who
 * saw it before it ended may put another row meanwhile, a group's or a parent's: whatever went before nobody does any
 * more goes once more from the beginning.
 */
const clear = async (deps: ListDeps, fanOut: FanOut, mayGoOn: () => boolean): Promise<void> => {
  const { config, fanOuts, machine } = deps;
  const { id, groups, ended, checkAt, walk } = fanOut;
  const settledAt = (ended?.at ?? 0) + SETTLED;
  // As it was at the beginning: clearing takes its time.
  const isSettled = machine.now() >= settledAt;
  const rest = await clearFrom(deps, fanOut, isSettled ? (walk?.next ?? 0) : 0, { mayGoOn, isSettled });
  const now = machine.now();
  if (!isSettled) await fanOuts.checkAgain(id, checkAt ?? now, { checkAt: settledAt });
  else if (rest === undefined) await fanOuts.bury(id, Math.max(now, settledAt - SETTLED + takenFor(config, id)));
  else
    await fanOuts.checkAgain(id, checkAt ?? now, { checkAt: now, walk: { next: rest, groups, failed: 0, seenAt: 0 } });
};

/** @returns where to go on, if that was not all: by `positionAt` */
const clearFrom = async (
  { fanOuts, lists }: ListDeps,
  { id, groups }: FanOut,
  from: number,
  how: Clearing,
): Promise<number | undefined> => {
  for (let next = from; ; next += ROWS) {
    const positions = Array.from({ length: ROWS }, (_, index) => positionAt(next + index, groups, fanOuts.width));
    const there = positions.filter((position) => position !== undefined);
    if (there.length === 0) break;
    if (!how.mayGoOn()) return next;
    await fanOuts.removeNodes(id, there);
  }
  if (!isNumbered(id)) return undefined;
  const rest = await lists.clear(listOf(id), groups, from >= END - groups ? END - from : 0, how);
  return rest === undefined ? undefined : END - rest;
};
