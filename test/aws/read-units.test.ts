/** The header with the read units equals the sum of the tables' own answers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { readMeter } from '../../src/aws/read-units.ts';
import { register } from '../../src/steps/register/register.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { dynamoDBStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

interface Capacity {
  readonly CapacityUnits: number;
}

let resources: Resources;
let request: (path: string, init?: RequestInit) => Promise<Response>;
let kit: ReturnType<typeof stepKit>;
/** Whether each request asked for its consumed capacity, and the sum of the answers. */
const asked: unknown[] = [];
let said = 0;
beforeAll(async () => {
  resources = await makeResources();
  const { dynamodb } = resources.clients;
  kit = stepKit(dynamoDBStores(resources));
  const app = api({ ...kit, readMeter: readMeter(dynamodb), newId: () => 'new', onError: console.error });
  request = async (path, init) => app.request(`/v1${path}`, init);
  dynamodb.middlewareStack.add(
    (next) => async (args) => {
      asked.push((args.input as { ReturnConsumedCapacity?: string }).ReturnConsumedCapacity);
      const answer = await next(args);
      const { ConsumedCapacity = [] } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
      for (const { CapacityUnits } of [ConsumedCapacity].flat()) said += CapacityUnits;
      return answer;
    },
    { step: 'initialize', priority: 'low', name: 'said' },
  );
  const bodies = ['MUC', 'JFK', 'NYC'].map(
    (depot) => `{"operation":"ship","id":"${depot}","payload":{"depot":"${depot}"}}`,
  );
  await register(
    kit,
    bodies.map((body, n) => ({ messageId: `m-${n}`, body })),
  );
});
afterAll(() => resources.stop());

const unitsOf = (response: Response): number => Number(response.headers.get('groupage-read-units'));

const PATHS = [
  '/tasks/MUC',
  '/tasks?target=ship/depot=MUC',
  '/targets?operation=ship',
  '/operations',
  '/failures',
  '/fan-outs',
  '/tasks/nobody',
];

it.each(PATHS)('GET %s returns the read units that it consumed', async (path) => {
  said = 0;
  const units = unitsOf(await request(path));
  // An empty index costs nothing on some engines.
  expect(units).toBe(said);
});

it('concurrent requests each return their own read units', async () => {
  const alone: number[] = [];
  for (const path of PATHS) alone.push(unitsOf(await request(path)));
  const together = await Promise.all(PATHS.map(async (path) => unitsOf(await request(path))));
  expect(together).toEqual(alone);
  expect(new Set(alone).size).toBeGreaterThan(2);
});

it('a request without a read returns 0 read units', async () => {
  for (const path of ['/queues', '/nothing', '/targets?limit=x'])
    expect((await request(path)).headers.get('groupage-read-units'), path).toBe('0');
});

it('writes, and reads outside the API, do not ask for consumed capacity', async () => {
  asked.length = 0;
  await request('/fan-outs', { method: 'POST', body: '{"id":"f"}' });
  await kit.tasks.all(
    (await kit.waiting.first('ship/depot=MUC' as never, 1)).map(({ candidate }) => candidate as never),
  );
  await kit.locks.readAll(['ship/depot=MUC' as never]);
  expect(asked.length).toBeGreaterThan(2);
  expect(asked.filter((each) => each !== undefined)).toEqual([]);
});
