/** When tasks were registered, and what that says of the batches that they came in. */
import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Millis } from '../src/domain/ids.ts';

/** By task, since when it waits. */
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
 * The fewest batches that hold tasks of one Target when none may wait for longer: whoever opens one waits as long as he may,
 * or until it is full. No order of sealing does better, since a batch that is sealed earlier holds a part of that.
 *
 * @param moments when they came.
 */
export const fewestBatches = (moments: readonly Millis[], size: number, wait: Millis): number => {
  let [batches, room, until] = [0, 0, Number.NEGATIVE_INFINITY];
  for (const at of moments.toSorted((a, b) => a - b)) {
    if (room === 0 || at > until) [batches, room, until] = [batches + 1, size, at + wait];
    room -= 1;
  }
  return batches;
};
