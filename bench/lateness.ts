/** The times at which tasks were registered, and the fewest batches that are possible with these times. */
import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Millis } from '../src/domain/ids.ts';

/** For each task, its Target and the time at which it began to wait. */
export const registeredAt = async (
  client: DynamoDBDocumentClient,
  table: string,
): Promise<ReadonlyMap<string, { readonly target: string; readonly at: Millis }>> => {
  const seen = new Map<string, { target: string; at: Millis }>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table }))
    for (const { Id, Target, CreatedAt } of Items) seen.set(Id, { target: Target, at: CreatedAt });
  return seen;
};

/**
 * The fewest batches for the tasks of one Target if no task may wait for longer than `wait`. A batch opens with a task
 * and is sealed when `wait` is over or the batch is full. Sealing earlier never reduces the number of batches, because
 * a batch that is sealed earlier holds only a part of these tasks.
 *
 * @param moments the arrival times of the tasks
 */
export const fewestBatches = (moments: readonly Millis[], size: number, wait: Millis): number => {
  let [batches, room, until] = [0, 0, Number.NEGATIVE_INFINITY];
  for (const at of moments.toSorted((a, b) => a - b)) {
    if (room === 0 || at > until) [batches, room, until] = [batches + 1, size, at + wait];
    room -= 1;
  }
  return batches;
};
