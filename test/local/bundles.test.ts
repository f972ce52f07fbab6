import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { eventually } from '../end-to-end/flow.ts';
import { configFrom } from '../end-to-end/operations.ts';
import { startAwsService } from '../factories/aws-service.ts';
import { someSecrets } from '../factories/factories.ts';
import { startLocalFlow } from './flow.ts';

type OperationInput = ConfigInput['operations'][string];

it('the bundles of a deployment run the whole flow', async () => {
  const flow = await startLocalFlow({}, { code: 'bundles' });
  try {
    const ids = await flow.send([
      { depot: 'MUC', n: 1 },
      { depot: 'MUC', n: 2 },
    ]);
    const tasks = await flow.ended(ids);
    expect(tasks.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(flow.downstream.calls.map(({ items }) => items.map(({ id }) => id))).toEqual([ids]);
    // openapi.json lies beside the bundle.
    expect(await flow.get('/openapi.json')).toMatchObject({ openapi: '3.1.0' });
    // The clients are of another copy of the SDK than the bundle's.
    await flow.stack.functions.get('Flow-SweepHandler-Function')?.invoke({ source: 'aws.events' });
  } finally {
    await flow.stop();
  }
});

it('the bundles call downstreams of every kind', async () => {
  const aws = await startAwsService(({ path }) => ({ body: path.includes('/invocations') ? 'null' : {} }));
  const kinds = {
    url: { kind: 'http', url: `${aws.options.endpoint}/url`, secret: { ssm: '/signing' } },
    invoked: { kind: 'lambda', function: 'parcels' },
    started: { kind: 'step-functions', stateMachine: 'parcels' },
    queued: { kind: 'queue', name: 'parcels' },
  } as const;
  const operations = Object.entries(kinds).map(([name, downstream]): [string, OperationInput] => [
    name,
    { target: ['depot'], downstream, batch: { maxWait: '0ms' } },
  ]);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const { options } = aws;
  const services = {
    lambda: options,
    stepFunctions: options,
    topics: options,
    eventBuses: options,
    secrets: someSecrets({ '/signing': 'whsec' }),
  };
  const config = configFrom({ operations: Object.fromEntries(operations) });
  const flow = await startLocalFlow({}, { config, code: 'bundles', host: { log, services } });
  try {
    await flow.send(operations.map(([operation]) => ({ operation, payload: { depot: 'MUC' } })));
    const seen = () =>
      aws.requests.map(({ path, operation, headers }) =>
        [operation || path, headers['groupage-signature'] ? 'signed' : ''].join(' ').trim(),
      );
    await eventually(() => new Set(seen()).size >= 3);
    expect(new Set(seen())).toEqual(
      new Set(['/url signed', '/2015-03-31/functions/parcels/invocations', 'AWSStepFunctions.StartExecution']),
    );
    const start = aws.requests.find(({ operation }) => operation.endsWith('StartExecution'));
    expect(JSON.parse(start?.body ?? '')).toMatchObject({
      stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:parcels',
    });
    const QueueUrl = flow.queue('batchQueue').replace(/[^/]+$/, 'parcels');
    await eventually(async () => {
      const { Messages } = await flow.backend.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl }));
      return Messages?.length === 1;
    });
  } finally {
    await flow.stop();
    await aws.stop();
  }
});
