/** The share of destinations in DynamoDB: one row of the BatchLock table. */
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Health, NEW_SHARE, type Share, type SlotLease } from '../domain/callbacks/share.ts';
import type { Token } from '../domain/ids.ts';
import type { Shares } from '../ports/callbacks.ts';
import type { Item } from '../rows/item.ts';
import { readable, versionOf } from '../rows/row-version.ts';
import { conditionally } from './dynamodb.ts';

/** `~` is never the first character of an operation's name, so this key is never a Target's. */
export const SHARE_KEY: Item = { Target: '~destinations', Entry: 'share' };

export const dynamoDBShares = (client: DynamoDBDocumentClient, table: string): Shares => ({
  read: async (how) => {
    const get = new GetCommand({ TableName: table, Key: SHARE_KEY, ConsistentRead: how === 'now' });
    const { Item: row } = await client.send(get);
    return row ? shareOf(row) : NEW_SHARE;
  },
  write: async (share) => {
    const put = new PutCommand({
      TableName: table,
      Item: shareItem(share),
      ...(share.version === 0
        ? { ConditionExpression: 'attribute_not_exists(Revision)' }
        : {
            ConditionExpression: 'Revision = :seen',
            ExpressionAttributeValues: { ':seen': share.version },
          }),
    });
    return (await conditionally(client.send(put))) !== undefined;
  },
});

const shareItem = ({ version, destinations, slots }: Share): Item => ({
  ...SHARE_KEY,
  Revision: version + 1,
  Destinations: Object.fromEntries(Object.entries(destinations).map(([name, health]) => [name, healthItem(health)])),
  Slots: slots.map(({ destination, token, until }) => ({ Destination: destination, Token: token, Until: until })),
  Version: versionOf('share of destinations'),
});

const healthItem = ({ failures, slowUntil, openUntil, opened }: Health): Item => ({
  Failures: failures,
  SlowUntil: slowUntil,
  OpenUntil: openUntil,
  Opened: opened,
});

/**
 * Reads the share from a row.
 * @throws NewerRow
 */
const shareOf = (stored: Item): Share => {
  const row = readable('share of destinations', stored);
  return {
    version: row.Revision as number,
    destinations: Object.fromEntries(
      Object.entries(row.Destinations as Record<string, Item>).map(([name, health]) => [name, healthOf(health)]),
    ),
    slots: (row.Slots as Item[]).map(
      ({ Destination, Token, Until }): SlotLease => ({ destination: Destination, token: Token as Token, until: Until }),
    ),
  };
};

const healthOf = ({ Failures, SlowUntil, OpenUntil, Opened }: Item): Health => ({
  failures: Failures,
  ...(SlowUntil === undefined ? {} : { slowUntil: SlowUntil }),
  ...(OpenUntil === undefined ? {} : { openUntil: OpenUntil }),
  ...(Opened === undefined ? {} : { opened: Opened }),
});
