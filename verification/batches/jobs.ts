/** Jobs that report later: at once, in time, after their deadline or never; in one message or in several, some twice. */

import { printBatch } from '../../src/domain/batches/messages.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Call, ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { type DownstreamWorld, someResults } from './simulated-downstream.ts';

export const reportLater = (world: DownstreamWorld, call: Call): void => {
  const { random, chaos, config } = world;
  if (random.chance(0.1)) return;
  const { deadline } = operationFor(config, call.operation).downstream;
  const parts = random.chance(0.3) ? halves(call.items) : [call.items];
  const saysAll = parts.length === 1 && random.chance(0.3);
  for (const items of parts) {
    const results = saysAll ? new Map<TaskId, ItemAnswer>() : someResults(random, items);
    const took = random.pick([random.int(0, 1_000), random.int(0, deadline), random.int(0, 2 * deadline)]);
    for (let times = random.chance(0.1) ? 2 : 1; times > 0; times -= 1)
      chaos.scheduler.after(took, () => report(world, call, saysAll ? undefined : results));
  }
};

const halves = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
};

/** @param results of some; undefined where all have succeeded, which a report need not say. */
const report = (
  { log, jobs, chaos }: DownstreamWorld,
  { batchId }: Call,
  results: ReadonlyMap<TaskId, ItemAnswer> | undefined,
): void => {
  log.reports.push({ batchId, at: chaos.scheduler.now, items: results ?? 'all-succeeded' });
  jobs?.send(printBatch({ kind: 'completion', batchId, results: results ? printResults(results) : null }));
};

const printResults = (results: ReadonlyMap<TaskId, ItemAnswer>): string => {
  const each = [...results].map(([id, answer]) => ({
    id,
    ...answer,
    ...(answer.status === 'succeeded' && answer.result !== undefined ? { result: JSON.parse(answer.result) } : {}),
  }));
  return JSON.stringify(each);
};
