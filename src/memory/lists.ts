/** Deferred lists in memory. The row of a list is also the header of its tracker. */

import { isNumbered } from '../domain/fan-out-ids.ts';
import { FULL_SIZE, groupSizes, type NodeSize } from '../domain/fan-outs/tree.ts';
import { type ListId, listOf, trackerOf } from '../domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  type Holder,
  handsOut,
  type Job,
  type Lease,
  type List,
  type StoredClaim,
} from '../domain/lists/list.ts';
import { tokensOf } from '../domain/lists/ranges.ts';
import type { Beginning, LeaseChange, Lists } from '../ports/lists.ts';
import { bytesInString } from '../util/json-text.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { lookedAfter } from './fan-outs.ts';
import { pageOf, putFanOut, type Tables } from './tables.ts';

/**
 * @param pageBytes the maximum number of bytes that one read of jobs returns
 * @param claimsMax the maximum number of claims in a list's row
 */
export const memoryLists = (
  tables: Tables,
  gate: Gate,
  { width }: NodeSize = FULL_SIZE,
  pageBytes = 4_000_000,
  claimsMax = CLAIMS_MAX,
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
  const claimAt = (id: ListId, { key }: Pick<StoredClaim, 'key'>) => tables.listClaims.get(keyOf(id, key));
  const putClaim = (id: ListId, claim: StoredClaim, leases: readonly Lease[]): void => {
    if (leases.length === 0) tables.listClaims.delete(keyOf(id, claim.key));
    else tables.listClaims.set(keyOf(id, claim.key), { ...claim, leases });
    tables.watcher.listClaims?.(id);
  };
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
    jobs: (id, ranges) =>
      through(gate, 'lists.jobs', () => {
        const segments = [...tables.listSegments.values()].filter((segment) => segment.id === id);
        const payloadOf = (job: number): string | undefined => {
          const segment = segments.find(({ first, count }) => job >= first && job < first + count);
          return segment && tables.listJobs.get(keyOf(id, segment.token, job - segment.first));
        };
        const jobs: Job[] = [];
        let bytes = 0;
        for (const token of ranges.flatMap(tokensOf)) {
          const payload = payloadOf(token);
          if (payload === undefined) return jobs;
          bytes += bytesInString(payload);
          if (bytes > pageBytes && jobs.length > 0) return jobs;
          jobs.push({ token, payload });
        }
        return jobs;
      }),
    leaseFresh: async (id, wanted, { total, most, begins, apart }) => {
      const { key, count } = wanted;
      let lease: Lease | undefined;
      await write('lists.leaseFresh', id, (list) => {
        const isFit = handsOut(list) && list.head <= total - count && list.leases.length < most;
        if (!isFit || list.leases.some((each) => each.key === key) || !hasApart(list, apart) || !mayBegin(list, begins))
          return undefined;
        lease = { ...wanted, first: list.head };
        return {
          ...list,
          ...holdersAfter(list, { begins, gone: [] }),
          head: list.head + count,
          leases: [...list.leases, lease],
        };
      });
      return lease;
    },
    change: (id, change) => write('lists.change', id, (list) => changed(list, change)),
    claimsMax,
    claimApart: (id, key) => through(gate, 'lists.claimApart', () => claimAt(id, { key })),
    claimsApart: (id) =>
      through(gate, 'lists.claimsApart', () =>
        [...tables.listClaims].flatMap(([key, claim]) => (key.startsWith(keyOf(id, '')) ? [claim] : [])),
      ),
    putApart: (id, claim, { becomes, ...change }) =>
      write('lists.putApart', id, (list) => {
        const after = claimAt(id, claim) ? undefined : changed(list, change);
        if (after) tables.listClaims.set(keyOf(id, claim.key), claim);
        return after && { ...after, apart: becomes };
      }),
    changeApart: (id, claim, to) =>
      through(gate, 'lists.changeApart', () => {
        const isSeen = isAsRead(claimAt(id, claim), claim, false);
        if (isSeen) putClaim(id, claim, to);
        return isSeen;
      }),
    gather: (id, moved, to, apart) =>
      write('lists.gather', id, (list) => {
        if (!moved.every(({ claim }) => isAsRead(claimAt(id, claim), claim, apart !== undefined))) return undefined;
        const after = changed(list, { from: [], to, gone: [], ...(apart ? { apart: apart.was } : {}) });
        if (!after) return undefined;
        for (const { claim, keep } of moved)
          if (keep.length === 0) tables.listClaims.delete(keyOf(id, claim.key));
          else tables.listClaims.set(keyOf(id, claim.key), { ...claim, leases: keep });
        if (!apart) return after;
        const { apart: _, ...rest } = after;
        return apart.becomes.count === 0 ? rest : { ...rest, apart: apart.becomes };
      }),
    trigger: (id, token) => through(gate, 'lists.trigger', () => tables.listTriggers.get(keyOf(id, token))),
    noteAmount: (id, token, wanted) =>
      through(gate, 'lists.noteAmount', () => {
        const taken = tables.listTriggers.get(keyOf(id, token));
        if (taken) tables.listTriggers.set(keyOf(id, token), { wanted, ...taken });
        return taken?.wanted ?? wanted;
      }),
    goOn: async (id, token, started) => {
      await through(gate, 'lists.goOn', () => {
        const taken = tables.listTriggers.get(keyOf(id, token));
        if (taken && taken.started < started) tables.listTriggers.set(keyOf(id, token), { ...taken, started });
      });
    },
    take: (id, token, { ranges, from, rest, head, fresh, wanted, gone }) =>
      write('lists.take', id, (list) => {
        if (tables.listTriggers.has(keyOf(id, token))) return undefined;
        const to = rest ? [rest] : [];
        const after = changed(list, { from, to, isHandingOut: true, fresh: { head, count: fresh }, gone });
        const amount = wanted === undefined ? {} : { wanted };
        if (after) tables.listTriggers.set(keyOf(id, token), { ranges, started: 0, ...amount });
        return after;
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
        tokensOf(range).flatMap((token) => tables.listResults.get(keyOf(id, token)) ?? []),
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
          for (const token of tokensOf({ first: group * width, count: width }))
            tables.listResults.delete(keyOf(id, token));
        }
        for (const table of [tables.listClaims, tables.listSegments, tables.listTriggers])
          if (!(mayGoOn() && clearOf(table, keyOf(id, '')))) return groups;
        return undefined;
      }),
  };
};

const NEW = { status: 'open', groups: 0, total: 0, version: 0, fails: [], head: 0, leases: [], holders: {} } as const;

/** `#` is a safe separator, because the id of a list contains no `#`. */
const keyOf = (id: ListId, ...rest: readonly (string | number)[]): string => [id, ...rest].join('#');

const clearOf = (table: Map<string, unknown>, prefix: string): true => {
  for (const key of table.keys()) if (key.startsWith(prefix)) table.delete(key);
  return true;
};

/** The list after a change of its leases, or undefined if it is not as it was read, or the new keys are in use. */
const changed = (list: List, change: LeaseChange): List | undefined => {
  const { from, to, isHandingOut = false, fresh, begins, gone, apart } = change;
  const byKey = new Map(list.leases.map((lease) => [lease.key, lease]));
  const isSeen = ({ key, first, count, until }: LeaseChange['from'][number]): boolean => {
    const lease = byKey.get(key);
    return lease?.first === first && lease.count === count && (until === undefined || lease.until === until);
  };
  const seen = new Set(from.map(({ key }) => key));
  const isFit =
    (!isHandingOut || handsOut(list)) &&
    (fresh === undefined || list.head === fresh.head) &&
    (apart === undefined || hasApart(list, apart)) &&
    mayBegin(list, begins) &&
    gone.every(({ claim, was }) => was === undefined || isSameHolder(list.holders?.[claim], was)) &&
    from.every(isSeen) &&
    to.every(({ key }) => seen.has(key) || !byKey.has(key));
  if (!isFit) return undefined;
  return {
    ...list,
    ...holdersAfter(list, change),
    head: list.head + (fresh?.count ?? 0),
    leases: [...list.leases.filter(({ key }) => !seen.has(key)), ...to].sort((a, b) => a.first - b.first),
  };
};

/** Whether the holder of a claim that begins is as it was read. */
const mayBegin = ({ holders = {} }: List, begins: Beginning | undefined): boolean =>
  !begins || isSameHolder(holders[begins.claim], begins.was);

const isSameHolder = (a: Holder | undefined, b: Holder | undefined): boolean =>
  a?.since === b?.since && a?.name === b?.name;

const holdersAfter = (
  { holders }: List,
  { begins, gone }: Pick<LeaseChange, 'gone'> & { readonly begins?: Beginning | undefined },
): Pick<List, 'holders'> => {
  if (!holders) return {};
  const ended = new Set<string>(gone.map(({ claim }) => claim));
  const left = Object.entries(holders).filter(([claim]) => !ended.has(claim));
  return { holders: { ...Object.fromEntries(left), ...(begins?.holder ? { [begins.claim]: begins.holder } : {}) } };
};

const hasApart = ({ apart }: List, read: NonNullable<LeaseChange['apart']>): boolean =>
  read === 'none' ? apart === undefined : apart?.count === read.count && apart.until === read.until;

/** Whether a claim in a row of its own is as it was read. */
const isAsRead = (stored: StoredClaim | undefined, { leases }: StoredClaim, isSameEnd: boolean): boolean => {
  const printed = (all: readonly Lease[]): string => all.map(({ key, first, count }) => [key, first, count]).join(',');
  return (
    stored !== undefined &&
    printed(stored.leases) === printed(leases) &&
    (!isSameEnd || stored.leases[0]?.until === leases[0]?.until)
  );
};
