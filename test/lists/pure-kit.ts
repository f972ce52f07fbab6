/** Lists, claims and leases, for the tests of pure decisions. */
import {
  type ClaimId,
  type ClaimKey,
  claimId,
  claimKeyOf,
  type Delivered,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import { type Lease, type List, leased, type OpenIn } from '../../src/domain/lists/list.ts';
import { tokensOf, without } from '../../src/domain/lists/ranges.ts';
import { NOW } from '../factories/factories.ts';
import { LIST } from './kit.ts';

export const aList = (fields: Partial<List> = {}): List => ({
  id: trackerOf(LIST),
  createdAt: NOW,
  touchedAt: NOW,
  status: 'open',
  groups: 1,
  total: 0,
  version: 0,
  fails: [],
  head: 0,
  leases: [],
  ...fields,
});

export const sorted = <T extends number | string>(all: readonly T[]): readonly T[] =>
  [...all].sort((a, b) => (a < b ? -1 : 1));

export const NEVER: Delivered = { deliveries: 0, isSuspect: false };
export const delivered = (deliveries: number, isSuspect = false): Delivered => ({ deliveries, isSuspect });
export const keyOf = (name: number): ClaimKey => claimKeyOf(claimId(`c-${name}`) as ClaimId);
export const opened = (leases: readonly Lease[], gone: ReadonlySet<number>): readonly OpenIn[] =>
  leases.map((lease) => ({ lease, open: without(lease, gone) }));
/** The jobs of some leases that are not done. */
export const openOf = (leases: readonly Lease[], gone: ReadonlySet<number>): readonly number[] =>
  leases.flatMap(tokensOf).filter((token) => !gone.has(token));
export const leaseOf = (name: number, first: number, count: number, until = NOW + 60_000, how = delivered(1)): Lease =>
  leased(keyOf(name), 0, { first, count, ...how }, until);
