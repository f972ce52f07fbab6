/** The rows of checkpoints, and the row that keeps release 0.2.0 out of a fleet whose checkpoints it would not find. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import type { Item } from '../../src/rows/item.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';

const [A, B] = [nodeOf('a'), nodeOf('b')];
const P = partition('p');

let resources: Resources;
let fleets: Fleets;
beforeAll(async () => {
  resources = await makeResources();
  fleets = dynamoDBFleets(resources.clients.dynamodb, resources.tables.fleet);
});
afterAll(() => resources.stop());

const rowsUnder = async (key: string): Promise<readonly Item[]> => {
  const query = {
    TableName: resources.tables.fleet,
    KeyConditionExpression: 'Fleet = :key',
    ExpressionAttributeValues: { ':key': key },
    ConsistentRead: true,
  };
  return (await resources.clients.dynamodb.send(new QueryCommand(query))).Items ?? [];
};

/** Whether release 0.2.0 can read a fleet: it reads nodes and leases of version 1, and fails at any other version. */
const isReadBy020 = async (name: FleetName): Promise<boolean> =>
  (await rowsUnder(name)).filter(({ Entry }) => /^(node|lease)#/.test(Entry)).every(({ Version = 1 }) => Version === 1);

it('a checkpoint has a row with a key of its own, which no other read includes', async () => {
  const name = fleet('keys');
  const lease = (await fleets.take(name, { partition: P, fence: 0 }, A, NOW)) as Lease;
  await fleets.open(name, lease);
  await fleets.checkpoint(name, { ...held(lease), checkpointApart: true }, 'c', 1);
  expect(await rowsUnder(`~checkpoint#${name}#p`)).toEqual([
    { Fleet: '~checkpoint#keys#p', Entry: 'checkpoint', Fence: 1, Checkpoint: 'c', CheckpointNo: 1, Version: 1 },
  ]);
  expect(await rowsUnder(name)).toEqual([
    { Fleet: name, Entry: 'lease#p', Owner: A, Fence: 1, Since: NOW, CheckpointApart: true, Version: 1 },
  ]);
});

it('release 0.2.0 works in a fleet that it began, until its checkpoints are separated', async () => {
  const name = fleet('older');
  await fleets.take(name, { partition: P, fence: 0 }, A, NOW);
  expect(await isReadBy020(name)).toBe(true);
  await fleets.separate(name);
  expect(await isReadBy020(name)).toBe(false);
  expect(await fleets.read(name)).toMatchObject({ nodes: [], checkpointsApart: true });
});

it('release 0.2.0 cannot join a fleet that this release began, even concurrently', async () => {
  const name = fleet('newer');
  await Promise.all([A, B].map((key) => fleets.join(name, aNode({ key }))));
  expect(await isReadBy020(name)).toBe(false);
  expect((await fleets.read(name)).nodes.map(({ key }) => key)).toEqual([A, B]);
});
