/**
 * Measures the lists that hand out jobs, each minute with the sweep. Reads one page of the lists' rows: unfinished lists
 * come first. Done jobs inside of a range count as available or leased, because counting them would read the tracker.
 * Claims in rows of their own are left out. Costs at most one read unit for each row.
 */
import { freshOf, handsOut, isFree } from '../../domain/lists/list.ts';
import { countOf } from '../../domain/lists/ranges.ts';
import type { ListDeps } from '../deps.ts';

/** Number of rows that are read. */
const ROWS_READ = 100;

export const gaugeLists = async ({ lists, machine, report }: ListDeps): Promise<void> => {
  const open = (await lists.page(ROWS_READ)).items.filter(handsOut);
  // A stack without lists pays for no metrics.
  if (open.length === 0) return;
  const now = machine.now();
  const leases = open.flatMap((list) => list.leases);
  const free = leases.filter((lease) => isFree(lease, now));
  report({
    event: 'lists-counted',
    open: open.length,
    available: open.reduce((sum, list) => sum + freshOf(list), countOf(free)),
    leased: countOf(leases) - countOf(free),
    oldest: Math.max(0, ...open.map(({ createdAt }) => now - createdAt)),
    deliveries: Math.max(0, ...leases.map(({ deliveries }) => deliveries)),
  });
};
