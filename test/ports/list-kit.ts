/** Deferred lists in a store, for the tests of its calls. */
import { expect } from 'vitest';
import type { Token } from '../../src/domain/ids.ts';
import { type ClaimKey, type LeaseKey, type ListId, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { freed, type Holder, type Lease, type NewList } from '../../src/domain/lists/list.ts';
import type { Append, FreshTaking, LeaseChange } from '../../src/ports/lists.ts';
import { NOW } from '../factories/factories.ts';
import { fresh } from './names.ts';
import type { Stores } from './stores.ts';

export const token = (text: string): Token => text as Token;
export const key = (text: string): LeaseKey => text as LeaseKey;
export const CHECK = NOW + 60_000;
export const UNTIL = NOW + 300_000;
export const append = (fields: Partial<Append> = {}): Append => ({ count: 3, hash: 'h', ...fields });
/** A claim's first delivery. */
export const lease = (name: string, first: number, count: number, until = UNTIL): Lease => ({
  key: key(name),
  claim: name as ClaimKey,
  first,
  count,
  until,
  deliveries: 1,
  isSuspect: false,
});
const NEVER = { deliveries: 0, isSuspect: false };
export const free = (first: number, count: number): Lease => freed({ first, count }, NEVER);
export const HOLDER: Holder = { since: Math.floor(NOW / 1_000) * 1_000, name: 'worker 3' };
/** What the write of each trigger stores and checks. */
export const TAKING = { wanted: '5 jobs', gone: [] };
export const ALL = { mayGoOn: () => true, isSettled: true };

export const listsIn = (stores: () => Stores) => {
  const store = () => stores().lists;
  const newId = (): ListId => listId(`l-${fresh().t(1)}`) as ListId;
  const opened = async (fields: Partial<NewList> = {}): Promise<ListId> => {
    const id = newId();
    await store().open({ id: trackerOf(id), createdAt: NOW, ...fields }, CHECK);
    return id;
  };
  /** A list with the jobs `{"n":0}`, `{"n":1}`, …, added in parts of `size`. */
  const holding = async (count: number, size = count): Promise<ListId> => {
    const id = await opened();
    for (let first = 0; first < count; first += size) {
      const payloads = Array.from({ length: Math.min(size, count - first) }, (_, n) => `{"n":${first + n}}`);
      const name = token(`add-${first}`);
      await store().beginAppend(id, name, append({ count: payloads.length }));
      await store().putJobs(id, name, payloads);
      expect(await store().publish(id, name, { first, count: payloads.length, at: NOW })).toBe(true);
    }
    return id;
  };
  const leased = (id: ListId, name: string, count: number, fields: Partial<FreshTaking> = {}) =>
    store().leaseFresh(id, lease(name, 0, count), { total: 10, most: 64, apart: 'none', ...fields });
  const change = (id: ListId, from: LeaseChange['from'], to: readonly Lease[], isHandingOut = false) =>
    store().change(id, { from, to, isHandingOut, gone: [] });
  return { store, newId, opened, holding, leased, change };
};
