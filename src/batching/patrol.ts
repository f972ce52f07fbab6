/**
 * Patrol the lock rows: does every Target that has waiting tasks, or an open batch, have somebody who sees to it?
 *
 * The rules of section 5 leave nothing stranded as long as the queues keep their messages; this is for the day when
 * an elect or group message was lost (purged, redriven by hand). A slice a minute, the whole round in an hour. It sees
 * every Target, since a new one gets its lock row before its first elect message; it does not see batch messages that
 * were lost, which `groupage doctor --deep` does, nor register messages.
 *
 * Budget: 0.6 read units per lock row and hour (an eventually consistent glance each, and the index), but always room
 * for {@link MIN_SLICE} rows a minute.
 */
import type { PatrolMark } from '../ports.ts';
import type { Deps } from './deps.ts';
import type { OperationName, Target } from './ids.ts';
import { lookAtTarget, repair } from './repair.ts';

type PatrolDeps = Pick<Deps, 'config' | 'locks' | 'waiting' | 'queues' | 'machine' | 'patrolMarks' | 'report'>;

const MIN_SLICE = 100;
const SLICES_PER_ROUND = 60;
const PAGE = 25;

/** Patrols the next slice, as long as `mayGoOn`. */
export const patrol = async (deps: PatrolDeps, mayGoOn: () => boolean): Promise<void> => {
  const operations = Object.keys(deps.config.operations) as OperationName[];
  let mark = resume(await deps.patrolMarks.read(), operations);
  if (!mark) return;
  const slice = Math.max(MIN_SLICE, Math.ceil(Math.max(mark.lastRound, mark.seen) / SLICES_PER_ROUND));
  for (let visited = 0; visited < slice && mayGoOn(); ) {
    const page = await deps.locks.targets(mark.operation, Math.min(PAGE, slice - visited), mark.cursor);
    await Promise.all(page.items.map((target) => visit(deps, target)));
    visited += page.items.length;
    const next = advance({ ...mark, seen: mark.seen + page.items.length }, page.cursor, operations);
    mark = next.mark;
    // A round that ends within its slice has seen everything.
    if (next.roundEnded) break;
  }
  await deps.patrolMarks.write(mark);
};

const visit = async (deps: PatrolDeps, target: Target): Promise<void> => {
  const finding = await lookAtTarget(deps, target, deps.machine.now());
  if (finding) await repair(deps, finding);
};

const resume = (mark: PatrolMark | undefined, operations: readonly OperationName[]): PatrolMark | undefined => {
  if (mark && operations.includes(mark.operation)) return mark;
  const [operation] = operations;
  return operation && { operation, seen: 0, lastRound: mark?.lastRound ?? 0 };
};

/** Where to go on: the operation's next page, the next operation, or the first one of a new round. */
export const advance = (
  mark: PatrolMark,
  cursor: string | undefined,
  operations: readonly OperationName[],
): { readonly mark: PatrolMark; readonly roundEnded: boolean } => {
  const { operation, seen, lastRound } = mark;
  if (cursor !== undefined) return { mark: { ...mark, cursor }, roundEnded: false };
  const next = operations[operations.indexOf(operation) + 1];
  if (next !== undefined) return { mark: { operation: next, seen, lastRound }, roundEnded: false };
  return { mark: { operation: operations[0] ?? operation, seen: 0, lastRound: seen }, roundEnded: true };
};
