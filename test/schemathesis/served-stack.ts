/**
 * A local stack with data, served over HTTP: tasks and batches in each state, a paused operation and a paused Target,
 * fan-outs, lists with claims, a fleet, and a dead letter. The ids in the examples of the OpenAPI document exist in it.
 */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { startStack } from '../../tools/local/stack.ts';
import { eventually } from '../end-to-end/flow.ts';
import { configFrom, type Fields, operationAt } from '../end-to-end/operations.ts';
import { type Behaviour, startTestDownstream } from '../factories/downstream.ts';
import { errorLog } from '../factories/error-log.ts';
import { aNode, fleet, nodeOf, partition } from '../factories/fleets.ts';

export interface ServedStack {
  /** The URL of the API, with its version. */
  readonly url: string;
  /** What the functions logged as errors. */
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

const configAt = (url: string) => {
  const operation = (fields?: Fields) => ({ ...operationAt(url, fields), target: ['carrier', 'depot'] });
  return configFrom({
    // Requests are made up, so their items have no tokens.
    producerRules: 'warn',
    operations: {
      'distribute-parcels': operation({ batch: { maxSize: 100, maxWait: '2s' } }),
      waiting: operation({ batch: { maxWait: '1h', maxSize: 500 } }),
      refused: operation(),
      held: operation(),
      // Their jobs report later.
      'send-digest': { ...operation({ batch: { maxSize: 1 } }), target: [] },
      downsample: { ...operation({ merge: { keys: 'inputs[]' } }), target: [] },
    },
    destinations: { ops: { kind: 'queue', name: 'groupage-schemathesis' } },
  });
};

const answers: Behaviour = ({ operation, items }) => {
  if (['send-digest', 'downsample'].includes(operation) || items.some(({ id }) => id === 'order-7'))
    return { status: 202, body: { pending: true } };
  const outcome =
    operation === 'refused'
      ? { status: 'failed', error: { code: 'torn', message: 'the parcel tore' } }
      : { status: 'succeeded', result: { label: 1 } };
  return { status: 200, body: { results: items.map(({ id }) => ({ id, ...outcome })) } };
};

export const startServedStack = async (): Promise<ServedStack> => {
  const downstream = await startTestDownstream(answers);
  const errors: string[] = [];
  const stack = await startStack({
    config: configAt(downstream.url),
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: { log: errorLog(errors) },
    onError: (error) => errors.push(error.message),
  });
  const stop = async () => {
    await stack.stop();
    await downstream.stop();
  };
  const url = stack.addresses.api;
  try {
    await fill(url);
    const fleets = dynamoDBFleets(stack.clients.dynamodb, setting(stack.settings, 'fleetTable'));
    const [flights, worker] = [fleet('flights'), nodeOf('worker-1')];
    for (const key of [worker, nodeOf('worker-2')]) await fleets.join(flights, aNode({ key, readsApart: true }));
    for (const name of ['north', 'south'])
      await fleets.take(flights, { partition: partition(name), fence: 0 }, worker, Date.now());
    await stack.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: setting(stack.settings, 'batchDeadLetters'), MessageBody: '{}' }),
    );
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url, errors, stop };
};

const MUC = { carrier: 'DHL', depot: 'MUC' };

type Ask = (route: string, body?: object) => Promise<void>;

const fill = async (url: string): Promise<void> => {
  const ask: Ask = async (route, body) => {
    const [method = '', path = ''] = route.split(' ');
    const response = await fetch(`${url}${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${route}: ${response.status} ${await response.text()}`);
  };
  await ask('POST /operations/held/pause', { reason: 'the depot moves' });
  await addFanOuts(ask);
  await addLists(ask);
  const ids = Array.from({ length: 30 }, (_, n) => `digest-${n}`);
  await ask('POST /tasks', {
    tasks: [
      ...['held', 'refused', 'waiting'].map((each) => ({ operation: each, id: each, payload: MUC })),
      { operation: 'waiting', id: 'paused', payload: { ...MUC, depot: 'BER' }, fanOutItem: '01KDVY3C5ZKQ:0:0' },
      ...['order-7', 'order-8', 'order-9'].map((id) => ({ operation: 'distribute-parcels', id, payload: MUC })),
      ...ids.map((id) => ({ operation: 'send-digest', id, payload: {} })),
      { operation: 'downsample', id: 'downsample', payload: { inputs: ['scene-1', 'scene-2'] } },
    ],
  });
  const status = {
    held: 'created',
    waiting: 'created',
    paused: 'created',
    refused: 'failed',
    'order-7': 'in-progress',
  };
  for (const [id, wanted] of [...Object.entries(status), ...ids.map((id) => [id, 'in-progress'])])
    await eventually(async () => {
      const task = await fetch(`${url}/tasks/${id}`);
      return task.ok && ((await task.json()) as { status: string }).status === wanted;
    });
  await ask('POST /operations/waiting/pause', { target: 'waiting/carrier=DHL/depot=BER' });
};

const addFanOuts = async (ask: Ask): Promise<void> => {
  await ask('POST /fan-outs', { id: '01KDVY3C5ZKQ', userKey: 'catalog-7' });
  await ask('POST /fan-outs/01KDVY3C5ZKQ/items', { count: 100, token: 'page-0' });
  await ask('POST /fan-outs/acks', { items: [{ item: '01KDVY3C5ZKQ:0:1', outcome: 'failed' }] });
  for (const id of ['sealed', 'deleted']) {
    await ask('POST /fan-outs', { id, callback: 'ops', failFast: { share: 0.5 } });
    await ask(`POST /fan-outs/${id}/items`, { count: 1 });
  }
};

const addLists = async (ask: Ask): Promise<void> => {
  const claim = { count: 100, leaseSeconds: 43_200 };
  const jobs = Array.from({ length: 1_000 }, (_, n) => ({ payload: { ...MUC, depot: 'HAM', n } }));
  await ask('POST /lists', { id: 'spring', operation: 'distribute-parcels', name: 'spring catalogue' });
  await ask('POST /lists/spring/jobs', { jobs, token: 'page-0' });
  await ask('POST /lists/spring/triggers', { count: 10, token: 'sunday' });
  for (const claimId of ['worker-1', 'worker-2', 'worker-3'])
    await ask('POST /lists/spring/claims', { ...claim, claimId });
  for (const id of ['sealed', 'deleted', 'cancelled']) {
    await ask('POST /lists', { id, callback: 'ops' });
    await ask(`POST /lists/${id}/jobs`, { jobs: [{ payload: MUC }] });
    // Otherwise the list would end when it is sealed or cancelled, and be deleted soon.
    await ask(`POST /lists/${id}/claims`, claim);
  }
};
