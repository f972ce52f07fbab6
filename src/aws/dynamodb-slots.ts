/** Slots in DynamoDB. Each page of slots is a set in a row (src/domain/operations/slot-pages.ts). */
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { PAGE_SIZE, type SlotPage } from '../domain/operations/slot-pages.ts';
import type { Slot } from '../domain/operations/slots.ts';
import type { SlotPages } from '../ports/slot-pages.ts';
import type { Item } from '../rows/item.ts';
import { slotPageKey, slotPageOf, slotPartitions, slotsOf } from '../rows/lock-rows.ts';
import { NOT_NEWER, type RowKind, readable, readsUpTo, VERSION_AT_FIRST, versionOf } from '../rows/row-version.ts';
import { conditionally } from './dynamodb.ts';

/** The first page of slots, which is part of another row. */
interface FirstPage<Owner> {
  readonly kind: RowKind;
  key(owner: Owner): Item;
  /** Condition on that row for taking a slot, in addition to the condition on the page. */
  readonly when: string;
}

/** The condition that a page has a free slot, or holds the slot already. Its values are {@link slotValues}. */
export const HAS_ROOM = '(contains(InFlight, :slot) OR attribute_not_exists(InFlight) OR size(InFlight) < :most)';

/** @param most maximum number of slots on the page */
export const slotValues = (slot: Slot, most: number): Item => ({
  ':slots': new Set([slot]),
  ':slot': slot,
  ':most': most,
});

/**
 * @param partitionOf the partition of an owner's own rows
 * @param first the first page, if it is part of another row
 */
export const dynamoDBSlots = <Owner extends string>(
  client: DynamoDBDocumentClient,
  table: string,
  partitionOf: (owner: Owner) => string,
  first?: FirstPage<Owner>,
): SlotPages<Owner> => {
  const pages = async (owner: Owner, cap: number, isEventual: boolean): Promise<SlotPage[]> => {
    const partitions = slotPartitions(partitionOf(owner), cap);
    return (await Promise.all(partitions.map((each) => pagesIn(client, table, each, isEventual)))).flat();
  };
  const keyOf = (owner: Owner, page: number): Item =>
    page === 0 && first ? first.key(owner) : slotPageKey(partitionOf(owner), page);
  const kindOf = (page: number): RowKind => (page === 0 && first ? first.kind : 'slot page');
  return {
    pageSize: PAGE_SIZE,
    slotPages: (owner, cap) => pages(owner, cap, false),
    slotPagesEventually: (owner, cap) => pages(owner, cap, true),
    slotPage: async (owner, page) => {
      const get = new GetCommand({ TableName: table, Key: keyOf(owner, page), ConsistentRead: true });
      const { Item: row } = await client.send(get);
      return row ? slotsOf(readable(kindOf(page), row)) : [];
    },
    takeSlot: async (owner, slot, most, page = 0) => {
      const kind = kindOf(page);
      const update = new UpdateCommand({
        TableName: table,
        Key: keyOf(owner, page),
        UpdateExpression: `SET ${VERSION_AT_FIRST} ADD InFlight :slots`,
        ConditionExpression: [NOT_NEWER, HAS_ROOM, ...(page === 0 && first ? [first.when] : [])].join(' AND '),
        ExpressionAttributeValues: {
          ...slotValues(slot, most),
          ':version': versionOf(kind),
          ':reads': readsUpTo(kind),
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return (await conditionally(client.send(update), kind)) !== undefined;
    },
    freeSlot: async (owner, slot, page = 0) => {
      const kind = kindOf(page);
      const update = new UpdateCommand({
        TableName: table,
        Key: keyOf(owner, page),
        UpdateExpression: 'DELETE InFlight :slots',
        ConditionExpression: `${NOT_NEWER} AND contains(InFlight, :slot)`,
        ExpressionAttributeValues: { ':slots': new Set([slot]), ':slot': slot, ':reads': readsUpTo(kind) },
        ReturnValues: 'ALL_OLD',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const freed = await conditionally(client.send(update), kind);
      return freed && slotsOf(freed.Attributes ?? {});
    },
  };
};

const pagesIn = async (
  client: DynamoDBDocumentClient,
  table: string,
  partition: string,
  isEventual: boolean,
): Promise<SlotPage[]> => {
  const found: SlotPage[] = [];
  const query: QueryCommandInput = {
    TableName: table,
    KeyConditionExpression: '#target = :partition',
    ExpressionAttributeNames: { '#target': 'Target' },
    ExpressionAttributeValues: { ':partition': partition },
    ConsistentRead: !isEventual,
  };
  // Not the SDK's paginator: it refuses the client of another copy of the SDK, as the bundled functions get in a local stack.
  let from: QueryCommandInput['ExclusiveStartKey'];
  do {
    const page = await client.send(new QueryCommand({ ...query, ...(from ? { ExclusiveStartKey: from } : {}) }));
    found.push(...(page.Items ?? []).map(slotPageOf));
    from = page.LastEvaluatedKey;
  } while (from);
  return found;
};

/**
 * Deletes pages that have no slots.
 * @param owner the partition of the owner's own rows
 */
export const dropEmptyPages = async (
  client: DynamoDBDocumentClient,
  table: string,
  owner: string,
  pages: readonly number[],
): Promise<void> => {
  for (const page of pages)
    await conditionally(
      client.send(
        new DeleteCommand({
          TableName: table,
          Key: slotPageKey(owner, page),
          // DynamoDB has no empty sets: a write that removes the last slot also removes the attribute.
          ConditionExpression: `attribute_not_exists(InFlight) AND ${NOT_NEWER}`,
          ExpressionAttributeValues: { ':reads': readsUpTo('slot page') },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      'slot page',
    );
};
