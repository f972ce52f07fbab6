/**
 * The names that the search knows: read through the API, kept for a while, and paid from the console's budget of read
 * units. Reading a Target counts its waiting tasks, so a search never reads more than a share of the budget.
 */
import type { Millis } from '../../../src/domain/ids.ts';
import { readUnitsReader, troubleOf } from './call.ts';
import type { Limits } from './interval.ts';
import type { Rounds } from './rounds.ts';
import type { Named } from './search.ts';

/** The names of one kind, or the Targets of one operation. */
interface Names {
  readonly kind: Named['kind'];
  /** The operation of the Targets. */
  readonly operation?: string;
  readonly names: readonly Named[];
  /** Whether these are all names. */
  readonly isAll: boolean;
}

/** Maximum number of Targets that are read of each operation. */
const TARGETS_MAX = 500;
/** Names in one call. */
const PAGE = 100;
/** Maximum number of operations whose Targets are read. */
const OPERATIONS_MAX = 8;
/** How long names are used before they are read again, at least. */
const FRESH: Millis = 60_000;
/** A search reads at most this share of the hourly budget, and over time at most a quarter of what the budget gains. */
const SHARE = 1 / 36;
const PART_OF_INCOME = 1 / 4;
const HOUR: Millis = 3_600_000;

const USED_UP =
  "the console's budget of read units is used up for the moment, so not everything was searched. Search again in a minute";

export interface SearchNames {
  /** The names that are known now. */
  known(): readonly Names[];
  /** Reads the names, unless they are fresh. Resolves when they are read. Never throws. */
  read(): Promise<void>;
  /** When the names were read. Undefined while they are read for the first time. */
  readAt(): Millis | undefined;
  isReading(): boolean;
  /** Why some names could not be read. */
  trouble(): string | undefined;
  /** Makes a GET call of the API for a search. Undefined if the budget is used up, or if the answer is no success. */
  get(path: string): Promise<unknown>;
}

export const searchNames = (
  rounds: Rounds,
  operations: () => Promise<readonly string[]>,
  { readUnitsPerHourMax }: Limits,
  now: () => Millis = Date.now,
): SearchNames => {
  const unitsOf = readUnitsReader();
  let known: readonly Names[] = [];
  let readAt: Millis | undefined;
  let staleAt: Millis = 0;
  let reading: Promise<void> | undefined;
  let trouble: string | undefined;
  let spent = 0;

  const get = async (path: string): Promise<unknown> => {
    if (rounds.balance() <= 0) {
      trouble = USED_UP;
      return undefined;
    }
    const response = await rounds.call(new Request(new URL(path, 'http://api.invalid')));
    spent += unitsOf(response);
    const body: unknown = await response.json();
    return response.ok ? body : undefined;
  };
  const isSpent = (): boolean => spent >= readUnitsPerHourMax * SHARE;
  const put = (names: Names): void => {
    known = [...known.filter(({ kind, operation }) => kind !== names.kind || operation !== names.operation), names];
  };

  const sizeOf = (of: string): number => known.find(({ operation }) => operation === of)?.names.length ?? 0;

  /** Reads all Targets page by page, of each operation in turn, so that each operation gets its part. */
  const readTargets = async (of: readonly string[]): Promise<void> => {
    let left = of.map((operation) => ({ operation, names: [] as Named[], cursor: '' }));
    while (left.length > 0) {
      const next: typeof left = [];
      for (const each of left) {
        const page = isSpent()
          ? undefined
          : await get(targetsPath(each.operation, { limit: PAGE, cursor: each.cursor }));
        const names = [...each.names, ...targetsIn(page)];
        const cursor = page === undefined ? each.cursor : cursorIn(page);
        const isAll = page !== undefined && cursor === '';
        const goesOn = page !== undefined && !isAll && names.length < TARGETS_MAX;
        if (goesOn) next.push({ ...each, names, cursor });
        // While names are read again, the earlier ones are found; also if they cannot be read again for now.
        if ((page !== undefined && !goesOn) || names.length >= sizeOf(each.operation))
          put({ kind: 'target', operation: each.operation, names, isAll });
      }
      left = next;
    }
  };
  const readAll = async (): Promise<void> => {
    spent = 0;
    trouble = undefined;
    const at = now();
    const all = await operations();
    known = known.filter(({ operation }) => operation === undefined || all.includes(operation));
    put({ kind: 'operation', names: all.map((id) => ({ kind: 'operation', id })), isAll: true });
    for (const [kind, path, namesIn] of LISTS) {
      const page = await get(path);
      const isAll = page !== undefined && cursorIn(page) === '';
      put({ kind, names: namesIn(page).map((each) => ({ kind, ...each })), isAll });
    }
    for (const operation of all.slice(OPERATIONS_MAX)) put({ kind: 'target', operation, names: [], isAll: false });
    await readTargets(all.slice(0, OPERATIONS_MAX));
    readAt = at;
  };
  const read = async (): Promise<void> => {
    if (!reading && now() < staleAt) return;
    reading ??= readAll()
      .catch((cause: unknown) => {
        trouble = troubleOf(cause);
      })
      .finally(() => {
        const earned = (readUnitsPerHourMax / HOUR) * PART_OF_INCOME;
        staleAt = now() + Math.max(FRESH, spent / earned);
        reading = undefined;
      });
    await reading;
  };
  return {
    known: () => known,
    read,
    readAt: () => readAt,
    isReading: () => reading !== undefined,
    trouble: () => trouble,
    get,
  };
};

export const targetsPath = (
  operation: string,
  of: { readonly limit: number; readonly cursor?: string; readonly prefix?: string },
): string => {
  const { limit, cursor = '', prefix = '' } = of;
  const query = new URLSearchParams({ operation, limit: String(limit) });
  if (cursor !== '') query.set('cursor', cursor);
  if (prefix !== '') query.set('prefix', prefix);
  return `/v1/targets?${query}`;
};

/** The Targets in an answer; none if there is no answer. */
export const targetsIn = (page: unknown): readonly Named[] =>
  elements(page, 'targets').flatMap((each) => {
    const id = textIn(each, 'target');
    return id === undefined ? [] : [{ kind: 'target' as const, id }];
  });

type Found = readonly Omit<Named, 'kind'>[];

const idsIn =
  (list: string, about: string) =>
  (page: unknown): Found =>
    elements(page, list).flatMap((each) => {
      const id = textIn(each, 'id');
      return id === undefined ? [] : [{ id, about: textIn(each, about) }];
    });

const fleetsIn = (page: unknown): Found =>
  elements(page, 'fleets').flatMap((id) => (typeof id === 'string' ? [{ id }] : []));

const LISTS: readonly (readonly [Named['kind'], string, (page: unknown) => Found])[] = [
  ['fleet', '/v1/fleets', fleetsIn],
  ['fan-out', `/v1/fan-outs?limit=${PAGE}`, idsIn('fanOuts', 'userKey')],
  ['list', `/v1/lists?limit=${PAGE}`, idsIn('lists', 'name')],
];

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

const elements = (page: unknown, name: string): readonly unknown[] => {
  const list = memberOf(page, name);
  return Array.isArray(list) ? list : [];
};

const textIn = (value: unknown, name: string): string | undefined => {
  const text = memberOf(value, name);
  return typeof text === 'string' ? text : undefined;
};

const cursorIn = (page: unknown): string => textIn(page, 'cursor') ?? '';
