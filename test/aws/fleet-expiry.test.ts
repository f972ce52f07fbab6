/** Rows of nodes expire by DynamoDB's clock, which deletes them, and not by the clock of the node. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aNode, fleet, nodeOf } from '../factories/fleets.ts';

const DAY = 24 * 60 * MINUTE;
const A = nodeOf('a');

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => resources.stop());

const expiryIn = async (name: FleetName): Promise<number> => {
  const query = {
    TableName: resources.tables.fleet,
    KeyConditionExpression: 'Fleet = :key AND Entry = :entry',
    ExpressionAttributeValues: { ':key': name, ':entry': `node#${A}` },
    ConsistentRead: true,
  };
  const [row] = (await resources.clients.dynamodb.send(new QueryCommand(query))).Items ?? [];
  return row?.ExpiresAt * 1_000;
};

it.each([
  ['right', 0],
  ['three days behind', -3 * DAY],
  ['three days ahead', 3 * DAY],
])('a node whose clock is %s has a row that expires a day after its last heartbeat', async (_, by) => {
  const now = Date.now();
  const aDayOn = (at: number): void => expect(Math.abs(at - now - DAY)).toBeLessThan(10 * MINUTE);
  vi.useFakeTimers({ toFake: ['Date'], now: now + by });
  const name = fleet(`skewed-${by < 0 ? 'behind' : by}`);
  const fleets = dynamoDBFleets(resources.clients.dynamodb, resources.tables.fleet);
  await fleets.join(name, aNode({ key: A, beatAt: Date.now() }));
  aDayOn(await expiryIn(name));
  expect(await fleets.beat(name, { key: A, beat: 1, ttl: 30_000, beatAt: Date.now() })).toBe(true);
  aDayOn(await expiryIn(name));
});
