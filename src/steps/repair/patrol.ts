/**
 * Patrol the lock rows: check whether each Target with waiting tasks or an open batch still has a message that drives
 * it (Q3).
 *
 * As long as the queues keep their messages, the rules leave no Target stranded. The patrol repairs Targets whose elect
 * or group message was lost, for example by a purge. The patrol scans a slice each minute, and all Targets in an hour.
 * Every Target is found, because a new Target gets its lock row before its first elect message. The patrol does not
 * find lost batch messages, which `groupage doctor --deep` does, nor lost register messages.
 *
 * Cost: 0.6 read units per lock row per hour, for an eventually consistent read of each row and for the index. The cost
 * is higher if `concurrency.perTarget` is above ten. At least {@link MIN_SLICE} rows are scanned each minute.
 */

import { expiresSoon, type Lock, mustStay } from '../../domain/batches/lock.ts';
import { type Millis, type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import type { PatrolMark } from '../../ports/locks.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { inBrief } from '../../util/problems.ts';
import type { SweepDeps } from '../deps.ts';
import { dropEmptyPages } from '../slots/target-slots.ts';
import { lookAtTargets, repairAll } from './repair.ts';

const MIN_SLICE = 100;
const SLICES_PER_ROUND = 60;
const PAGE = 25;

/**
 * Scans the next slice while `mayGoOn` returns true.
 *
 * @throws AggregateError of all failures, by Target, after the rest of the slice is scanned and the mark is written. If
 *   it were thrown at the first failure, each minute would stop at the same Target.
 */
export const patrol = async (deps: SweepDeps, mayGoOn: () => boolean): Promise<void> => {
  const operations = Object.keys(deps.config.operations) as OperationName[];
  const from = resume(await deps.patrolMarks.read(), operations);
  if (!from) return;
  const { mark, failures } = await walk(deps, from, operations, mayGoOn);
  await deps.patrolMarks.write(mark);
  if (failures.length === 0) return;
  const causes = failures.map(({ cause }) => cause);
  const reasons = failures.map(({ what, cause }) => `${what}: ${String(cause)}`);
  throw new AggregateError(causes, `patrol: ${inBrief(reasons)}`);
};

/** A Target or page that could not be scanned or repaired. */
interface Failure {
  readonly what: string;
  readonly cause: unknown;
}

const walk = async (
  deps: SweepDeps,
  from: PatrolMark,
  operations: readonly OperationName[],
  mayGoOn: () => boolean,
): Promise<{ readonly mark: PatrolMark; readonly failures: readonly Failure[] }> => {
  const failures: Failure[] = [];
  const waits = new Waits();
  const slice = Math.max(MIN_SLICE, Math.ceil(Math.max(from.lastRound, from.seen) / SLICES_PER_ROUND));
  let mark = from;
  try {
    for (let visited = 0; visited < slice; ) {
      if (!mayGoOn()) {
        deps.report({ event: 'sweep-cut', part: 'patrol', left: slice - visited });
        break;
      }
      const page = await deps.locks.targets(mark.operation, Math.min(PAGE, slice - visited), mark.cursor);
      failures.push(...(await visit(deps, page.items, (since) => waits.since(mark.operation, since))));
      waits.looked(mark.operation, page.items.length);
      visited += page.items.length;
      const next = advance({ ...mark, seen: mark.seen + page.items.length }, page.cursor, operations);
      mark = next.mark;
      // The round has ended within this slice, so all Targets were scanned.
      if (next.roundEnded) break;
    }
  } catch (cause) {
    failures.push({ what: `the Targets of ${mark.operation}`, cause });
    // An invalid cursor stays invalid, so start again at the operation's first page. Otherwise the patrol would fail
    // each minute.
    if (cause instanceof InvalidCursor) mark = atFirstPage(mark);
  }
  waits.report(deps);
  return { mark, failures };
};

/** For each operation, the number of scanned Targets and the age of the oldest waiting task. */
class Waits {
  readonly #seen = new Map<OperationName, { targets: number; since: Millis }>();

  looked(operation: OperationName, targets: number): void {
    this.#of(operation).targets += targets;
  }

  since(operation: OperationName, since: Millis): void {
    const seen = this.#of(operation);
    seen.since = Math.min(seen.since, since);
  }

  report({ machine, report }: SweepDeps): void {
    const now = machine.now();
    for (const [operation, { targets, since }] of this.#seen)
      report({ event: 'looked', operation, targets, oldestWaiting: Math.max(0, now - since) });
  }

  #of(operation: OperationName) {
    const seen = this.#seen.get(operation) ?? { targets: 0, since: Number.POSITIVE_INFINITY };
    this.#seen.set(operation, seen);
    return seen;
  }
}

const visit = async (
  deps: SweepDeps,
  targets: readonly Target[],
  onWaiting: (since: Millis) => void,
): Promise<readonly Failure[]> => {
  const now = deps.machine.now();
  const ending: Ending[] = [];
  const locks = new Map<Target, Lock>();
  const { findings, skipped } = await lookAtTargets(deps, targets, onWaiting, (target, { lock, expiresAt, first }) => {
    locks.set(target, lock);
    if (expiresSoon(expiresAt, now)) ending.push({ target, mustStay: first !== undefined || mustStay(lock) });
  });
  const treated = await repairAll(deps, findings);
  const tidied = await Promise.allSettled([...locks].map(([target, lock]) => dropEmptyPages(deps, target, lock)));
  return [
    ...(await keepRows(deps, ending)),
    ...skipped.map(({ id, cause }) => ({ what: id, cause })),
    ...tidied.flatMap((each, index) =>
      each.status === 'rejected' ? [{ what: `pages of ${[...locks.keys()][index]}`, cause: each.reason }] : [],
    ),
    ...treated.flatMap((each) => ('cause' in each ? [{ what: each.finding.target, cause: each.cause }] : [])),
  ];
};

/** A Target whose lock row expires soon. */
interface Ending {
  readonly target: Target;
  /**
   * Whether the row must be kept, because tasks wait or because of its own content. Without the row, no scan finds the
   * Target.
   */
  readonly mustStay: boolean;
}

/**
 * Q4. Extends lock rows. While an operation is paused or its circuit is open, a sealed batch may wait for longer than
 * its Target's row lasts. Without the row, no scan finds the batch if its message is lost, and the next leader gives
 * the batch's id to another batch.
 */
const keepRows = async (deps: SweepDeps, ending: readonly Ending[]): Promise<readonly Failure[]> => {
  const { locks, operations, machine } = deps;
  const paused = new Map<OperationName, Promise<boolean>>();
  const isPaused = (operation: OperationName): Promise<boolean> => {
    const asked = paused.get(operation) ?? operations.read(operation).then((state) => state.paused !== undefined);
    paused.set(operation, asked);
    return asked;
  };
  const kept = await Promise.allSettled(
    ending.map(async ({ target, mustStay }) => {
      if (mustStay || (await isPaused(operationOf(target)))) await locks.keep(target, machine.now());
    }),
  );
  return kept.flatMap((each, index) =>
    each.status === 'rejected' ? [{ what: `the lock of ${ending[index]?.target}`, cause: each.reason }] : [],
  );
};

const resume = (mark: PatrolMark | undefined, operations: readonly OperationName[]): PatrolMark | undefined => {
  if (mark && operations.includes(mark.operation)) return mark;
  const [operation] = operations;
  return operation && { operation, seen: 0, lastRound: mark?.lastRound ?? 0 };
};

const atFirstPage = ({ operation, seen, lastRound }: PatrolMark): PatrolMark => ({ operation, seen, lastRound });

/** The mark after a page: the operation's next page, the next operation, or the first operation of a new round. */
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
