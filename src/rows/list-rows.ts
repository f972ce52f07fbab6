/**
 * The rows of deferred lists. A list's own row is the header of its tracker, in the table FanOut. Its jobs, results,
 * appends and triggers are in the table List.
 */
import type { Token } from '../domain/ids.ts';
import {
  type ClaimKey,
  type LeaseKey,
  type ListId,
  parseLeaseKey,
  type Range,
  trackerOf,
} from '../domain/lists/ids.ts';
import type { Apart, Holder, Lease, List, NewList, StoredClaim } from '../domain/lists/list.ts';
import { SECOND } from '../domain/timings.ts';
import type { Append, JobResult, Taken } from '../ports/lists.ts';
import { fanOutOf, headerKey, newHeader } from './fan-out-rows.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

export const listKey = (id: ListId): Item => headerKey(trackerOf(id));

/**
 * The row of a new list. The row does not store the number of groups, because that number follows from `Total` (T9).
 * Every byte counts: with twelve claims the row must stay within one write unit.
 */
export const newListRow = (list: NewList, checkAt: number): Item => {
  const { G: _, Touched: __, ...header } = newHeader(list, checkAt);
  return {
    ...header,
    Head: 0,
    lf: {},
    ln: {},
    le: {},
    lh: {},
    ...(list.operation === undefined ? {} : { Operation: list.operation }),
    ...(list.maxDeliveries === undefined ? {} : { MaxDeliveries: list.maxDeliveries }),
  };
};

export const listOfRow = (row: Item): List => ({
  ...fanOutOf(row),
  ...(row.Operation === undefined ? {} : { operation: row.Operation as string }),
  ...(row.MaxDeliveries === undefined ? {} : { maxDeliveries: row.MaxDeliveries as number }),
  head: row.Head as number,
  leases: leasesOf(row),
  ...(row.lh === undefined ? {} : { holders: holdersOf(row.lh) }),
  ...(row.Apart === undefined ? {} : { apart: { count: row.Apart, until: row.ApartUntil * SECOND } }),
});

const leasesOf = ({ lf = {}, ln = {}, le = {} }: Item): readonly Lease[] =>
  Object.keys(lf)
    .map((key) => leaseOf(key, lf[key] as number, ln[key] as number, (le[key] as number) * SECOND))
    .sort((a, b) => a.first - b.first);

const leaseOf = (key: string, first: number, count: number, until: number): Lease => ({
  key: key as LeaseKey,
  first,
  count,
  until,
  ...parseLeaseKey(key),
});

/** A holder in the list's row, as short as possible: the time in seconds with base 36, then the name. */
export const printHolder = ({ since, name }: Holder): string =>
  `${Math.floor(since / SECOND).toString(36)}${name === undefined ? '' : ` ${name}`}`;

const parseHolder = (stored: string): Holder => {
  const [since = '', ...name] = stored.split(' ');
  return { since: Number.parseInt(since, 36) * SECOND, ...(name.length > 0 ? { name: name.join(' ') } : {}) };
};

const holdersOf = (lh: Readonly<Record<string, string>>): Readonly<Record<ClaimKey, Holder>> =>
  Object.fromEntries(Object.entries(lh).map(([key, stored]) => [key, parseHolder(stored)]));

/** The attributes of a list's row for its claims in rows of their own. */
export const apartItem = ({ count, until }: Apart): { readonly Apart: number; readonly ApartUntil: number } => ({
  Apart: count,
  ApartUntil: secondsOf(until),
});

/** The end of a lease as stored in the row: in seconds, because seconds take two bytes less than milliseconds. */
export const secondsOf = (until: number): number => until / SECOND;

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

/** `a#token`: the jobs that a token adds, or is about to add. */
export const appendKey = (id: ListId, token: Token): Item => ({ Id: id, Entry: `${APPENDS}${token}` });
export const APPENDS = 'a#';
export const tokenOfAppend = ({ Entry }: Item): Token => (Entry as string).slice(APPENDS.length) as Token;

/** `s#first`: the token whose jobs begin with job number `first`. */
export const segmentKey = (id: ListId, first: number): Item => ({ Id: id, Entry: `${SEGMENTS}${padded(first, 12)}` });
export const SEGMENTS = 's#';
/** `t#token`: the jobs that a trigger took. */
export const triggerKey = (id: ListId, token: Token): Item => ({ Id: id, Entry: `${TRIGGERS}${token}` });
export const TRIGGERS = 't#';
/** `c#claim`: a claim with a row of its own. */
export const claimKey = (id: ListId, claim: ClaimKey): Item => ({ Id: id, Entry: `${CLAIMS}${claim}` });
export const CLAIMS = 'c#';
/**
 * The key of a row of jobs. Jobs that were added together share a partition. A row holds several of them, and its key
 * contains the index of the first one. No token can produce the key of another token.
 */
export const jobsKey = (id: ListId, token: Token, index: number): Item => ({
  Id: `${id}#a#${token}`,
  Entry: padded(index, 4),
});
/** The key of a result. Results are spread over partitions in the same way as the items over the tracker's nodes. */
export const resultKey = (id: ListId, token: number, width: number): Item => ({
  Id: `${id}#r#${Math.floor(token / width)}`,
  Entry: padded(token, 12),
});

const APPEND: Attributes<Append> = { count: 'Count', hash: 'Hash', first: 'First' };

export const appendRow = (id: ListId, token: Token, append: Append): Item => ({
  ...appendKey(id, token),
  ...written(APPEND, append),
  Version: versionOf('list append'),
});

/** @throws NewerRow */
export const appendOf = (stored: Item): Append => read(APPEND, readable('list append', stored));

export interface Segment extends Range {
  readonly token: Token;
}

export const segmentRow = (id: ListId, { first, count, token }: Segment): Item => ({
  ...segmentKey(id, first),
  Count: count,
  Append: token,
  Version: versionOf('list segment'),
});

/** @throws NewerRow */
export const segmentOf = (stored: Item): Segment => {
  const { Entry, Count: count, Append: token } = readable('list segment', stored);
  return { first: Number((Entry as string).slice(2)), count, token: token as Token };
};

/** The leases of a claim as one text, so that a condition can compare all of them. */
export const printLeases = (leases: readonly Lease[]): string =>
  leases.map(({ key, first, count }) => `${key} ${first} ${count}`).join(',');

export const claimRow = (id: ListId, { key, leases, holder }: StoredClaim): Item => ({
  ...claimKey(id, key),
  Leases: printLeases(leases),
  Until: secondsOf(leases[0]?.until ?? 0),
  ...(holder ? { Holder: printHolder(holder) } : {}),
  Version: versionOf('list claim'),
});

/** @throws NewerRow */
export const claimOf = (stored: Item): StoredClaim => {
  const { Entry, Leases, Until, Holder } = readable('list claim', stored);
  return {
    key: (Entry as string).slice(CLAIMS.length) as ClaimKey,
    leases: (Leases as string).split(',').map((lease) => {
      const [key = '', first, count] = lease.split(' ');
      return leaseOf(key, Number(first), Number(count), Until * SECOND);
    }),
    ...(Holder === undefined ? {} : { holder: parseHolder(Holder) }),
  };
};

export const triggerRow = (id: ListId, token: Token, ranges: readonly Range[], wanted?: string): Item => ({
  ...triggerKey(id, token),
  Ranges: ranges.map(({ first, count }) => [first, count]),
  ...(wanted === undefined ? {} : { Wanted: wanted }),
  Version: versionOf('list trigger'),
});

/** @throws NewerRow */
export const takenOf = (stored: Item): Taken => {
  const { Ranges, Started: started = 0, Wanted: wanted } = readable('list trigger', stored);
  return {
    ranges: (Ranges as [number, number][]).map(([first, count]) => ({ first, count })),
    started,
    ...(wanted === undefined ? {} : { wanted }),
  };
};

/** Most bytes of jobs that share a row, so that writing the row costs four write units and reading it one read unit. */
const ROW_BYTES = 3_900;

/**
 * The rows of jobs. Many small jobs share a row, because DynamoDB rounds the size of each row up to whole KB when it
 * charges.
 */
export const jobRows = (id: ListId, token: Token, payloads: readonly string[]): readonly Item[] => {
  const rows: { index: number; payloads: string[]; bytes: number }[] = [];
  for (const [index, payload] of payloads.entries()) {
    const bytes = Buffer.byteLength(payload) + 3;
    const last = rows.at(-1);
    if (last && last.bytes + bytes <= ROW_BYTES) {
      last.payloads.push(payload);
      last.bytes += bytes;
    } else rows.push({ index, payloads: [payload], bytes });
  }
  const Version = versionOf('list jobs');
  return rows.map(({ index, payloads: Payloads }) => ({ ...jobsKey(id, token, index), Payloads, Version }));
};

const RESULT: Attributes<Omit<JobResult, 'token'>> = { outcome: 'Outcome', result: 'Result', error: 'Error' };

export const resultRow = (id: ListId, { token, ...result }: JobResult, width: number): Item => ({
  ...resultKey(id, token, width),
  ...written(RESULT, result),
  Version: versionOf('list result'),
});

/**
 * The payloads in a row. `index` is the place of the first payload among the jobs that were added together.
 *
 * @throws NewerRow
 */
export const jobsOf = (stored: Item): { readonly index: number; readonly payloads: readonly string[] } => {
  const { Entry, Payloads } = readable('list jobs', stored);
  return { index: Number(Entry), payloads: Payloads };
};

/** @throws NewerRow */
export const resultOf = (stored: Item): JobResult => {
  const row = readable('list result', stored);
  return { token: Number(row.Entry), ...read(RESULT, row) };
};
