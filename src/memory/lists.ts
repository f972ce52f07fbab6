/** Deferred lists in memory. The row of a list is also the header of its tracker. */

import { isNumbered } from '../domain/fan-out-ids.ts';
import { FULL_SIZE, groupSizes, type NodeSize } from '../domain/fan-outs/tree.ts';
import { type ListId, listOf, type Range, trackerOf } from '../domain/lists/ids.ts';
import { endOf, handsOut, type Lease, type List } from '../domain/lists/list.ts';
import type { Lists, Seen } from '../ports/lists.ts';
import { bytesInString } from '../util/json-text.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { lookedAfter } from './fan-outs.ts';
import { pageOf, putFanOut, type Tables } from './tables.ts';

/** @param pageBytes the maximum number of bytes that one read of jobs returns */
export const memoryLists = (
  tables: Tables,
  gate: Gate,
  { width }: NodeSize = FULL_SIZE,
  pageBytes = 4_000_000,
): Lists => {
  const listAt = (id: ListId): List | undefined => tables.fanOuts.get(trackerOf(id)) as List | undefined;
  /** A conditional write. `next` returns the list to write, or undefined if the condition fails. */
  const write = (call: string, id: ListId, next: (list: List) => List | undefined): Promise<boolean> =>
    through(gate, call, () => {
      const before = listAt(id);
      const after = before && next(before);
      if (after) putFanOut(tables, after);
      return after !== undefined;
    });
  return {
    open: (list, checkAt) =>
      through(gate, 'lists.open', () => {
        const stored = listAt(listOf(list.id));
        if (stored) return { isNew: false, stored };
        const opened: List = { ...list, ...NEW, touchedAt: list.createdAt, checkAt };
        putFanOut(tables, opened);
        return { isNew: true, stored: opened };
      }),
    read: (id) => through(gate, 'lists.read', () => listAt(id)),
    page: (limit, cursor) =>
      through(gate, 'lists.page', () =>
        pageOf(lookedAfter(tables, 0).filter(({ id }) => isNumbered(id)) as List[], limit, cursor),
      ),
    append: (id, token) => through(gate, 'lists.append', () => tables.listAppends.get(keyOf(id, token))),
    beginAppend: (id, token, append) =>
      through(gate, 'lists.beginAppend', () => {
        if (tables.listAppends.has(keyOf(id, token))) return false;
        tables.listAppends.set(keyOf(id, token), append);
        return true;
      }),
    putJobs: async (id, token, payloads) => {
      await gate(
        'lists.putJobs',
        payloads.map((payload, index) => () => tables.listJobs.set(keyOf(id, token, index), payload)),
      );
    },
    publish: (id, token, { first, count, at }) =>
      write('lists.publish', id, (list) => {
        const append = tables.listAppends.get(keyOf(id, token));
        if (list.status !== 'open' || list.total !== first || !append || append.first !== undefined) return undefined;
        tables.listAppends.set(keyOf(id, token), { ...append, first });
        tables.listSegments.set(keyOf(id, first), { id, first, count, token });
        const total = first + count;
        return { ...list, total, groups: groupSizes(total, width).length, touchedAt: at, version: list.version + 1 };
      }),
    jobs: (id, range) =>
      through(gate, 'lists.jobs', () => {
        const segments = [...tables.listSegments.values()].filter((segment) => segment.id === id);
        let bytes = 0;
        return segments
          .sort((a, b) => a.first - b.first)
          .flatMap(({ first, count, token }) =>
            Array.from({ length: count }, (_, index) => ({
              token: first + index,
              payload: tables.listJobs.get(keyOf(id, token, index)),
            })),
          )
          .flatMap(({ token, payload }) => {
            if (payload === undefined || token < range.first || token >= endOf(range)) return [];
            bytes += bytesInString(payload);
            return bytes > pageBytes && token > range.first ? [] : [{ token, payload }];
          });
      }),
    leaseFresh: async (id, { key, count, until, total, most }) => {
      let lease: Lease | undefined;
      await write('lists.leaseFresh', id, (list) => {
        const isFit = handsOut(list) && list.head <= total - count && list.leases.length < most;
        if (!isFit || list.leases.some((each) => each.key === key)) return undefined;
        lease = { key, first: list.head, count, until };
        return { ...list, head: list.head + count, leases: [...list.leases, lease] };
      });
      return lease;
    },
    change: (id, from, to, how) =>
      write('lists.change', id, (list) =>
        (how === 'handing-out' && !handsOut(list)) || !fits(list, from, to)
          ? undefined
          : { ...list, leases: inPlaceOf(list, from, to) },
      ),
    trigger: (id, token) => through(gate, 'lists.trigger', () => tables.listTriggers.get(keyOf(id, token))),
    goOn: async (id, token, started) => {
      await through(gate, 'lists.goOn', () => {
        const taken = tables.listTriggers.get(keyOf(id, token));
        if (taken && taken.started < started) tables.listTriggers.set(keyOf(id, token), { ...taken, started });
      });
    },
    take: (id, token, { ranges, from, rest, head, fresh }) =>
      write('lists.take', id, (list) => {
        const to = rest ? [rest] : [];
        if (!handsOut(list) || list.head !== head || tables.listTriggers.has(keyOf(id, token))) return undefined;
        if (!fits(list, from, to)) return undefined;
        tables.listTriggers.set(keyOf(id, token), { ranges, started: 0 });
        return { ...list, head: head + fresh, leases: inPlaceOf(list, from, to) };
      }),
    putResults: (id, results) =>
      rowByRow(
        gate,
        'lists.putResults',
        results,
        ({ token }) => keyOf(id, token),
        (result) => {
          const key = keyOf(id, result.token);
          const stored = tables.listResults.get(key) ?? result;
          tables.listResults.set(key, stored);
          return stored;
        },
      ),
    results: (id, range) =>
      through(gate, 'lists.results', () =>
        tokens(range).flatMap((token) => tables.listResults.get(keyOf(id, token)) ?? []),
      ),
    clear: (id, groups, from, { mayGoOn, isSettled }) =>
      through(gate, 'lists.clear', () => {
        // The row of an addition is written before its jobs. The rows of additions therefore lead to every job,
        // including the jobs of an addition that was never published.
        for (const append of tables.listAppends.keys()) {
          if (!append.startsWith(keyOf(id, ''))) continue;
          if (!(mayGoOn() && clearOf(tables.listJobs, `${append}#`))) return from;
          if (isSettled) tables.listAppends.delete(append);
        }
        for (let group = from; group < groups; group += 1) {
          if (!mayGoOn()) return group;
          for (const token of tokens({ first: group * width, count: width }))
            tables.listResults.delete(keyOf(id, token));
        }
        for (const table of [tables.listSegments, tables.listTriggers])
          if (!(mayGoOn() && clearOf(table, keyOf(id, '')))) return groups;
        return undefined;
      }),
  };
};

const NEW = { status: 'open', groups: 0, total: 0, version: 0, fails: [], head: 0, leases: [] } as const;

/** `#` is a safe separator, because the id of a list contains no `#`. */
const keyOf = (id: ListId, ...rest: readonly (string | number)[]): string => [id, ...rest].join('#');

const clearOf = (table: Map<string, unknown>, prefix: string): true => {
  for (const key of table.keys()) if (key.startsWith(prefix)) table.delete(key);
  return true;
};

const tokens = ({ first, count }: Range): number[] => Array.from({ length: count }, (_, index) => first + index);

/** Whether the leases are unchanged after they were read, and whether the keys of all new leases are free. */
const fits = ({ leases }: List, from: readonly Seen[], to: readonly Lease[]): boolean => {
  const byKey = new Map(leases.map((lease) => [lease.key, lease]));
  const isSeen = ({ key, first, count, until }: Seen): boolean => {
    const lease = byKey.get(key);
    return lease?.first === first && lease.count === count && (until === undefined || lease.until === until);
  };
  const seen = new Set(from.map(({ key }) => key));
  return from.every(isSeen) && to.every(({ key }) => seen.has(key) || !byKey.has(key));
};

const inPlaceOf = ({ leases }: List, from: readonly Seen[], to: readonly Lease[]): readonly Lease[] => {
  const gone = new Set(from.map(({ key }) => key));
  return [...leases.filter(({ key }) => !gone.has(key)), ...to].sort((a, b) => a.first - b.first);
};
