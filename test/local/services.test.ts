/** Services that a configuration names outside of the stack, on a local start. */
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { secretVariable } from '../../tools/local/secrets.ts';
import { localServices, missingHere } from '../../tools/local/services.ts';
import { startStack } from '../../tools/local/stack.ts';
import { backendOf } from '../backends/here.ts';
import { type Flow, flowOn } from '../end-to-end/flow.ts';
import { configFrom } from '../end-to-end/operations.ts';
import { startTestDownstream } from '../factories/downstream.ts';

type Input = ConfigInput['operations'][string]['downstream'];

const RETRY = { immediate: 0, maxAttempts: 1, minDelay: '0s', maxDelay: '0s' } as const;
const configOf = (downstream: Input, destinations: ConfigInput['destinations'] = {}) =>
  configFrom({
    operations: { ship: { target: ['depot'], downstream, batch: { maxWait: '0ms' }, retry: RETRY } },
    destinations,
  });

const withFlow = async (config: ReturnType<typeof configFrom>, use: (flow: Flow) => Promise<void>): Promise<void> => {
  const errors: string[] = [];
  const stack = await startStack({
    config,
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: { log: { info: () => {}, warn: () => {}, error: (message) => errors.push(message) } },
    onError: (error) => errors.push(error.message),
  });
  const flow = flowOn(backendOf(stack, errors), await startTestDownstream(), 'ship');
  try {
    await use(flow);
  } finally {
    await flow.stop();
  }
};

describe('a local start', () => {
  it('makes the named queues, and tasks sent to one succeed', async () => {
    const config = configOf(
      { kind: 'queue', name: 'arn:aws:sqs:eu-west-1:111122223333:parcels' },
      { ops: { kind: 'queue', name: 'ops' } },
    );
    await withFlow(config, async (flow) => {
      const ids = await flow.send([{ depot: 'MUC' }]);
      await flow.settled(ids);
      expect(await flow.task(ids[0] ?? '')).toMatchObject({ status: 'succeeded' });
      const { sqs } = flow.backend.clients;
      const urlOf = (name: string) => flow.queue('batchQueue').replace(/[^/]+$/, name);
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf('parcels') }));
      expect(Messages.map(({ Body }) => JSON.parse(Body ?? '').items)).toEqual([
        [{ id: ids[0], payload: { depot: 'MUC' } }],
      ]);
      expect((await sqs.send(new ReceiveMessageCommand({ QueueUrl: urlOf('ops') }))).Messages).toBeUndefined();
    });
  });

  it.each<[string, Input, RegExp]>([
    ['a function', { kind: 'lambda', function: 'parcels' }, /no functions of its own\. Set AWS_ENDPOINT_URL_LAMBDA/],
    [
      'a state machine',
      { kind: 'step-functions', stateMachine: 'parcels' },
      /no state machines of its own\. Set AWS_ENDPOINT_URL_SFN/,
    ],
    [
      'a signed URL',
      { kind: 'http', url: 'http://127.0.0.1:9/', secret: { ssm: '/groupage/signing' } },
      /you set GROUPAGE_SECRET_GROUPAGE_SIGNING|set the environment variable GROUPAGE_SECRET_GROUPAGE_SIGNING/,
    ],
  ])('does not call AWS for %s: it says what to set, and so do its tasks', async (_, downstream, sentence) => {
    const config = configOf(downstream);
    expect(missingHere(config, {})).toEqual([expect.stringMatching(sentence)]);
    await withFlow(config, async (flow) => {
      const ids = await flow.send([{ depot: 'MUC' }]);
      await flow.settled(ids);
      const task = (await flow.task(ids[0] ?? '')) as { error: { message: string } };
      expect(task.error.message).toMatch(sentence);
    });
  });

  it('calls an emulator only if its address is on this machine', () => {
    const at = (address: string) => localServices({ AWS_ENDPOINT_URL_LAMBDA: address }).lambda;
    for (const address of ['http://127.0.0.1:4566', 'https://localhost:1', 'http://[::1]:1'])
      expect(at(address)).toMatchObject({ endpoint: address });
    for (const address of [
      'https://lambda.eu-west-1.amazonaws.com',
      'http://127.0.0.1.example:1',
      'http://10.0.0.1',
      'http://localhost@example.com',
      'here',
    ])
      expect(at(address)).toEqual({ missing: expect.stringContaining('must be a URL of this machine') });
  });

  it('reports nothing if every service is present', () => {
    const environment = { AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:1', GROUPAGE_SECRET_A_B: 'x' };
    expect(missingHere(configOf({ kind: 'lambda', function: 'parcels' }), environment)).toEqual([]);
    expect(missingHere(configOf({ kind: 'queue', name: 'parcels' }), {})).toEqual([]);
    const url = { kind: 'http' as const, url: 'http://127.0.0.1:9/', headers: { 'x-a': { ssm: 'a.b' } } };
    expect(missingHere(configOf(url), environment)).toEqual([]);
    expect(missingHere(configOf(url), {})).toEqual([expect.stringContaining('you set GROUPAGE_SECRET_A_B,')]);
  });

  it('says that rules for producers cannot be tried here', () => {
    const config = configOf({ kind: 'queue', name: 'parcels' });
    const said = [expect.stringMatching(/^every message counts as sent by Groupage itself.*producers\.send/)];
    expect(missingHere({ ...config, producers: { shop: [] } }, {})).toEqual(said);
    expect(missingHere({ ...config, producerRules: 'enforce' }, {})).toEqual(said);
  });

  it('reads secrets from variables that are named after them', () => {
    expect(secretVariable({ ssm: '/groupage/signing' })).toBe('GROUPAGE_SECRET_GROUPAGE_SIGNING');
    expect(secretVariable({ ssm: 'parcels.v1-key' })).toBe('GROUPAGE_SECRET_PARCELS_V1_KEY');
    expect(secretVariable({ secretsManager: 'parcels/token' })).toBe('GROUPAGE_SECRET_PARCELS_TOKEN');
    expect(
      secretVariable({ secretsManager: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:parcels-AbCdEf' }),
    ).toBe('GROUPAGE_SECRET_PARCELS_ABCDEF');
  });
});
