/** Which of a range's jobs are done, by the list's tracker. */
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import { type ListId, trackerOf } from '../../domain/lists/ids.ts';
import { endOf, type Range } from '../../domain/lists/list.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** How those ended that have, by their tokens. */
export const doneIn = async (
  fanOuts: Pick<FanOuts, 'node' | 'width'>,
  id: ListId,
  range: Range,
): Promise<ReadonlyMap<number, ItemOutcome>> => {
  const { width } = fanOuts;
  const done = new Map<number, ItemOutcome>();
  for (let n = Math.floor(range.first / width); n * width < endOf(range); n += 1) {
    const node = await fanOuts.node(trackerOf(id), { level: 0, n });
    const [from, to] = [Math.max(range.first, n * width), Math.min(endOf(range), (n + 1) * width)];
    for (let token = from; token < to; token += 1) {
      const slot = node?.slots[token - n * width] ?? null;
      if (slot !== null) done.set(token, slot ? 'succeeded' : 'failed');
    }
  }
  return done;
};
