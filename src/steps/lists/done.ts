/** Which jobs of a list are done, according to the list's tracker. */
import pLimit from 'p-limit';
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import { type ListId, type Range, trackerOf } from '../../domain/lists/ids.ts';
import type { Lease, OpenIn } from '../../domain/lists/list.ts';
import { endOf, without } from '../../domain/lists/ranges.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

export type Tracker = Pick<FanOuts, 'node' | 'width'>;

/** Number of nodes of the tracker that are read at once. */
const NODES_AT_ONCE = 8;

/** The outcomes of those jobs of some ranges that are done, by job token. Each node is read once. */
export const doneIn = async (
  fanOuts: Tracker,
  id: ListId,
  ranges: readonly Range[],
): Promise<ReadonlyMap<number, ItemOutcome>> => {
  const { width } = fanOuts;
  const groups = new Set<number>();
  for (const range of ranges)
    for (let n = Math.floor(range.first / width); n * width < endOf(range); n += 1) groups.add(n);
  const nodes = new Map(
    await pLimit(NODES_AT_ONCE).map(
      groups,
      async (n) => [n, await fanOuts.node(trackerOf(id), { level: 0, n })] as const,
    ),
  );
  const done = new Map<number, ItemOutcome>();
  for (const { first, count } of ranges)
    for (let token = first; token < first + count; token += 1) {
      const slot = nodes.get(Math.floor(token / width))?.slots[token % width] ?? null;
      if (slot !== null) done.set(token, slot ? 'succeeded' : 'failed');
    }
  return done;
};

/** The jobs of some leases that are not done. */
export const openIn = async (fanOuts: Tracker, id: ListId, leases: readonly Lease[]): Promise<readonly OpenIn[]> => {
  const done = await doneIn(fanOuts, id, leases);
  return leases.map((lease) => ({ lease, open: without(lease, done) }));
};
