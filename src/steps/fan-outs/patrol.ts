/**
 * The patrol of fan-outs (T8), each minute with the sweep. The patrol finishes the work of functions that died, expires
 * fan-outs that were idle for too long, and deletes the rows of ended fan-outs.
 *
 * The patrol finds due fan-outs by a sparse index. A fan-out is due again when its age has doubled. So a fan-out that
 * ends within seconds is never visited while it runs.
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
import { expire, failFast, sendEvent } from './end.ts';
import { cleanedAt, takenFor } from './keep.ts';
import { noteAllSucceeded, noteSomeFailure, sendNotices } from './notices.ts';
import { lookDown } from './progress.ts';

/** The shortest and the longest time until the patrol visits a fan-out. */
const [FIRST_LOOK, LONGEST_PAUSE]: readonly [Millis, Millis] = [2 * MINUTE, 60 * MINUTE];
/** Number of fan-outs that are read from the index at once, and that are visited at once. */
const [PAGE, VISITS] = [100, 8];
/** Number of rows that are deleted at once. */
const ROWS = 250;
/**
 * A position that is higher than that of any node. When all nodes of a list are deleted, its results are deleted, and
 * the stored position is then `END - n`, where `n` is the next group. Version 0.2.0 stores only `END`, and starts again
 * from any position beyond the nodes. So each version can read the positions that the other version stores.
 */
const END = Number.MAX_SAFE_INTEGER;

/** The time of the patrol's next visit to a fan-out that was created at `createdAt`. */
export const nextLook = (createdAt: Millis, now: Millis): Millis =>
  now + Math.min(Math.max(now - createdAt, FIRST_LOOK), LONGEST_PAUSE);

/** @throws AggregateError of all failures, after all due fan-outs are visited. */
export const patrolFanOuts = async (deps: ListDeps, mayGoOn: () => boolean): Promise<void> => {
  const visited = new Set<FanOutId>();
  const failures: unknown[] = [];
  for (;;) {
    // The index is eventually consistent, so it may still return fan-outs that were just visited.
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

/** Repairs, expires or clears one fan-out, if it is due. */
export const visit = async (deps: ListDeps, id: FanOutId, mayGoOn: () => boolean): Promise<void> => {
  const fanOut = await deps.fanOuts.read(id);
  if (fanOut?.checkAt === undefined || fanOut.checkAt > deps.machine.now()) return;
  const { config, machine } = deps;
  const { ended, status, unsent, event, checkAt } = fanOut;
  if (unsent) await sendNotices(deps, fanOut);
  if (event) return sendEvent(deps, fanOut);
  // A notice makes a fan-out due, and the function that sent its event may have died before it restored the time.
  if (unsent || (ended && machine.now() < cleanedAt(config, id, status, ended.at))) return rest(deps, fanOut, checkAt);
  return fanOut.ended ? clear(deps, fanOut, mayGoOn) : look(deps, fanOut, fanOut.checkAt, mayGoOn);
};

/** Sets the next visit to a fan-out that was due only for an unsent event. */
const rest = async ({ config, fanOuts, machine }: FanOutDeps, fanOut: FanOut, due: Millis): Promise<void> => {
  const { id, status, createdAt, ended } = fanOut;
  const checkAt = ended ? cleanedAt(config, id, status, ended.at) : nextLook(createdAt, machine.now());
  await fanOuts.checkAgain(id, due, { checkAt });
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
  const before = walk ? walk.left : 0;
  const left = sight.isWhole && before !== undefined ? { left: before + sight.left } : {};
  const seenAt = Math.max(sight.seenAt, walk?.seenAt ?? 0);
  const now = machine.now();
  if (sight.next !== undefined) {
    const rest: Walk = { next: sight.next, groups, failed, ...left, seenAt };
    await fanOuts.checkAgain(id, due, { checkAt: now, walk: rest });
    return;
  }
  // T13. The function that acked a failed item may have died before it noted the failure.
  if (failed > 0) await noteSomeFailure(deps, fanOut);
  const counts = { failed, ...(left.left === undefined ? {} : { pending: left.left }) };
  const idle = { open: config.fanOuts.idleOpen, sealed: config.fanOuts.idleSealed };
  // A function that sealed the fan-out may have died before it checked the nodes. The walk above overlooks a top node
  // that climbed before the seal, and a fan-out without items, because neither has an empty place.
  const after = fanOut.status === 'sealed' ? await finishSealed(deps, fanOut) : fanOut;
  if (after?.status === 'complete') report({ event: 'fan-out-repaired', fanOut: id });
  else if (isTooMany(fanOut, failed)) await failFast(deps, fanOut, counts);
  else if (isIdle(fanOut, seenAt, idle, now)) await expire(deps, fanOut, counts);
  // This write is refused if the fan-out has ended meanwhile, because the end sets another due time.
  await fanOuts.checkAgain(id, due, { checkAt: nextLook(fanOut.createdAt, now) });
};

/**
 * Deletes the rows of an ended fan-out. If there are many rows, each visit deletes a part of them. The header row
 * expires later through its time to live. A function that read the fan-out before its end may still put a row of a
 * group or parent node. All such functions have ended at `settledAt`. So if rows are deleted before `settledAt`, a
 * later visit deletes all rows once more, from the beginning.
 */
const clear = async (deps: ListDeps, fanOut: FanOut, mayGoOn: () => boolean): Promise<void> => {
  const { config, fanOuts, machine } = deps;
  const { id, groups, ended, checkAt, walk } = fanOut;
  // T12. The function that corrected the last failed item may have died before it noted that.
  if (fanOut.corrected && !walk) await noteAllSucceeded(deps, fanOut);
  const settledAt = (ended?.at ?? 0) + SETTLED;
  // Read the clock before the rows are deleted, because the deletion may take long and end after `settledAt`.
  const isSettled = machine.now() >= settledAt;
  const rest = await clearFrom(deps, fanOut, isSettled ? (walk?.next ?? 0) : 0, { mayGoOn, isSettled });
  const now = machine.now();
  if (!isSettled) await fanOuts.checkAgain(id, checkAt ?? now, { checkAt: settledAt });
  else if (rest === undefined) await fanOuts.bury(id, Math.max(now, settledAt - SETTLED + takenFor(config, id)));
  else
    await fanOuts.checkAgain(id, checkAt ?? now, { checkAt: now, walk: { next: rest, groups, failed: 0, seenAt: 0 } });
};

/** @returns the position (`positionAt`) from which to continue. Undefined if all rows are deleted. */
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
