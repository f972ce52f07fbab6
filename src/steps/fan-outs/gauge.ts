/**
 * Measures the open fan-outs, each minute with the sweep. Reads one page of headers: unfinished ones come first. If more
 * follow, the number is a lower bound, and an older fan-out may be open. Costs at most one read unit for each header.
 */
import type { FanOutDeps } from '../deps.ts';

/** Number of headers that are read. */
const HEADERS_READ = 100;

export const gaugeFanOuts = async ({ fanOuts, machine, report }: FanOutDeps): Promise<void> => {
  const { items, cursor } = await fanOuts.page(HEADERS_READ);
  const open = items.filter(({ ended }) => ended === undefined);
  const now = machine.now();
  const oldest = Math.max(0, ...open.map(({ createdAt }) => now - createdAt));
  // A stack without fan-outs pays for no metrics.
  if (open.length === 0) return;
  const isAtLeast = cursor !== undefined && open.length === items.length;
  report({ event: 'fan-outs-counted', open: open.length, oldest, isAtLeast });
};
