/** The state of Targets, and the Targets of an operation that have waiting, retried or failed tasks. */
import pLimit from 'p-limit';
import { operationNamed } from '../../domain/config/resolved.ts';
import { type Millis, type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { COUNT_LIMIT } from '../../steps/lead/flush.ts';
import { inFlightOf } from '../../steps/slots/target-slots.ts';
import { percentDecoded } from '../../util/percent.ts';
import { type Read, readUnderWay, underWayView } from '../operations/under-way.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { type SortKey, sortedBy } from './order.ts';
import { type TargetsAsked, targetPage } from './pages.ts';
import type { Target as TargetShown } from './responses.ts';
import { isAtLimit, targetView } from './views.ts';

/** Maximum number of Targets whose state one request reads, for a sorted list. */
const LOOKED_MAX = 300;
/** Maximum number of names that one request reads, and of requests to the table for them, for a search. */
const [NAMES_MAX, QUERIES_MAX] = [3_000, 60];
/** Maximum number of failed tasks of a Target that are counted. */
const FAILED_MAX = 100;
const AT_ONCE = 20;

export interface Listed {
  readonly targets: readonly TargetShown[];
  /** Number of Targets that the request looked at. */
  readonly looked?: number;
  /** How many of them have what the list is sorted by. */
  readonly found?: number;
  readonly cursor?: string;
}

/** A page of Targets by name, or those among the next {@link LOOKED_MAX} that have what the list is sorted by. */
export const listTargets = async (
  deps: ApiDeps,
  {
    sort,
    search,
    ...asked
  }: TargetsAsked & { readonly sort?: SortKey | undefined; readonly search?: string | undefined },
): Promise<Listed> => {
  if (sort === 'retried') {
    if (asked.cursor !== undefined) throw new InvalidCursor();
    return retriedTargets(deps, asked, search);
  }
  if (!sort && !search) {
    const { items, ...next } = await targetPage(deps, asked);
    return { targets: await lookedUp(deps, items, false), ...next };
  }
  const { names, looked, ...next } = await searched(deps, { ...asked, limit: sort ? LOOKED_MAX : asked.limit }, search);
  const targets = await lookedUp(deps, names, sort === 'failed');
  if (!sort) return { targets, looked, ...next };
  const found = sortedBy(targets, sort);
  return { targets: found.slice(0, asked.limit), looked, found: found.length, ...next };
};

/** Targets with batches that are under way. The index of these batches leads to them, so no other Target is read. */
const retriedTargets = async (
  deps: ApiDeps,
  { operation, prefix = '', limit }: TargetsAsked,
  search: string | undefined,
): Promise<Listed> => {
  const { operations } = deps.config;
  const names = Object.values(operations).flatMap((each) =>
    operation === undefined || each.operation === operation ? [each.operation] : [],
  );
  const reads = await readAll(deps, names);
  // The entries of an operation begin with the oldest task, so the first one of a Target is its oldest.
  const oldest = new Map<Target, Millis>();
  for (const { target, oldestAt } of [...reads.values()].flatMap(({ entries }) => entries))
    if (!oldest.has(target)) oldest.set(target, oldestAt);
  const wanted = [...oldest]
    .filter(([target]) => target.startsWith(`${operationOf(target)}/${prefix}`) && matches(target, search))
    .toSorted(([, a], [, b]) => a - b)
    .map(([target]) => target);
  const targets = await lookedUp(deps, wanted.slice(0, limit), false, reads);
  return { targets: sortedBy(targets, 'retried'), looked: oldest.size, found: wanted.length };
};

/** The next names that contain a text, at most `limit`. Reads names until enough are found. */
const searched = async (
  deps: ApiDeps,
  asked: TargetsAsked,
  search: string | undefined,
): Promise<{ readonly names: readonly Target[]; readonly looked: number; readonly cursor?: string }> => {
  const names: Target[] = [];
  let { cursor } = asked;
  let looked = 0;
  for (let query = 0; query < QUERIES_MAX && looked < NAMES_MAX && names.length < asked.limit; query += 1) {
    const page = await targetPage(deps, { ...asked, cursor, limit: Math.min(100, asked.limit - names.length) });
    looked += page.items.length;
    names.push(...page.items.filter((target) => matches(target, search)));
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return { names, looked, ...(cursor === undefined ? {} : { cursor }) };
};

/** Whether a Target's name contains a text: as it is stored, or with its values decoded. Upper and lower case are one. */
const matches = (target: Target, search: string | undefined): boolean => {
  if (!search) return true;
  const wanted = search.toLowerCase();
  return [target, percentDecoded(target) ?? target].some((name) => name.toLowerCase().includes(wanted));
};

/** Reads the state of Targets, in the order of their names. */
const lookedUp = async (
  deps: ApiDeps,
  targets: readonly Target[],
  countsFailed: boolean,
  known?: ReadonlyMap<OperationName, Read>,
): Promise<readonly TargetShown[]> => {
  const { config, locks, waiting, tasks, machine } = deps;
  const reads = known ?? (await readAll(deps, [...new Set(targets.map(operationOf))]));
  const look = async (target: Target): Promise<TargetShown> => {
    const seen = await locks.readEventually(target);
    const [count, inFlight, failed] = await Promise.all([
      // Counting costs a read even if there is nothing to count.
      seen.first ? waiting.count(target, COUNT_LIMIT) : 0,
      inFlightOf(deps, target, seen.lock),
      countsFailed ? tasks.failed(target, FAILED_MAX) : undefined,
    ]);
    const underWay = underWayView(ofTarget(reads.get(operationOf(target)), target));
    const now = machine.now();
    const operation = operationNamed(config, operationOf(target));
    const waitsForLimit = count > 0 && operation !== undefined && isAtLimit(seen.lock, operation, now);
    const state = {
      inFlight,
      waiting: count,
      limit: COUNT_LIMIT,
      waitsForLimit,
      underWay,
      failed: failed?.items.length,
    };
    return targetView(target, seen, state, now);
  };
  return pLimit(AT_ONCE).map(targets, look);
};

/** The batches under way of each operation. */
const readAll = async (deps: ApiDeps, names: readonly OperationName[]): Promise<ReadonlyMap<OperationName, Read>> =>
  new Map(await Promise.all(names.map(async (name) => [name, await readUnderWay(deps, name)] as const)));

const ofTarget = (read: Read | undefined, target: Target): Read => {
  const entries = (read?.entries ?? []).filter((each) => each.target === target);
  return { entries, hasMore: read?.hasMore ?? false };
};
