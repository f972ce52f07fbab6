/** Downstreams of every kind in a cloud that enforces rights: the stack calls each with the rights of its template. */
import { CreateRoleCommand, IAMClient } from '@aws-sdk/client-iam';
import { CreateFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { CreateQueueCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { verify } from '../../src/domain/downstream/signature.ts';
import { deployedStack, downstreamPort } from '../backends/backend.ts';
import { clientsOf } from '../backends/cloud.ts';
import { openStage, type Stage } from '../backends/stage.ts';
import { eventually, type Flow, flowOn } from '../end-to-end/flow.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { zipOf } from '../factories/zip.ts';

/** The function answers for each item as the item's payload requests. */
const CODE = `export const handler = async ({ idempotencyKey, attempt, items }) => {
  if (items.some(({ payload }) => payload.n === 'throws') && attempt === 1) throw new TypeError('not yet');
  return { results: items.map(({ id, payload }) => payload.n === 'fails'
    ? { id, status: 'failed', error: { code: 'bad', message: 'cannot' } }
    : { id, status: 'succeeded', result: { idempotencyKey, attempt } }) };
};`;

const TRUSTED_BY = (service: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: `${service}.amazonaws.com` }, Action: 'sts:AssumeRole' }],
  });

const { cloud } = deployedStack();

// The test leaves resources outside of the stack; the emulator ends with the run.
describe.skipIf(cloud.name !== 'ministack')('a deployed stack', () => {
  const sfn = new SFNClient();
  let downstream: TestDownstream;
  let headers: Record<string, unknown>[];
  let stage: Stage;
  let flow: Flow;
  let sqs: SQSClient;
  let QueueUrl: string | undefined;
  let stateMachineArn: string | undefined;
  let functionRole: string;

  const roleFor = async (service: string): Promise<string> => {
    const role = { RoleName: `kinds-${service}`, AssumeRolePolicyDocument: TRUSTED_BY(service) };
    return (await new IAMClient().send(new CreateRoleCommand(role))).Role?.Arn ?? '';
  };

  const makeFunction = async (FunctionName: string, Role: string): Promise<void> => {
    const Code = { ZipFile: zipOf('index.mjs', CODE) };
    const made = { FunctionName, Runtime: 'nodejs24.x', Handler: 'index.handler', Role, Code } as const;
    await new LambdaClient().send(new CreateFunctionCommand(made));
  };

  const makeDownstreams = async (): Promise<void> => {
    functionRole = await roleFor('lambda');
    await makeFunction('kinds-parcels', functionRole);
    const definition = { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } };
    ({ stateMachineArn } = await sfn.send(
      new CreateStateMachineCommand({
        name: 'kinds-parcels',
        definition: JSON.stringify(definition),
        roleArn: await roleFor('states'),
      }),
    ));
    ({ QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'kinds-parcels' })));
    await new SSMClient().send(
      new PutParameterCommand({ Name: '/kinds/signing', Type: 'SecureString', Value: 'whsec_kinds' }),
    );
    await new SecretsManagerClient().send(
      new CreateSecretCommand({ Name: 'kinds/token', SecretString: 'Bearer kinds' }),
    );
  };

  beforeAll(async () => {
    sqs = clientsOf(cloud).sqs;
    headers = [];
    downstream = await startTestDownstream(undefined, {
      port: downstreamPort(),
      refuses: (request) => {
        headers.push(request.headers);
        return false;
      },
    });
    await makeDownstreams();
    stage = openStage('kinds');
    const { downstreamUrl: url } = stage;
    const kinds: Record<string, ConfigInput['operations'][string]['downstream']> = {
      ship: {
        kind: 'http',
        url,
        secret: { ssm: '/kinds/signing' },
        headers: { Authorization: { secretsManager: 'kinds/token' } },
      },
      invoked: { kind: 'lambda', function: 'kinds-parcels', timeout: '20s' },
      late: { kind: 'lambda', function: 'kinds-late' },
      started: { kind: 'step-functions', stateMachine: 'kinds-parcels' },
      queued: { kind: 'queue', name: 'kinds-parcels' },
    };
    const retry = { immediate: 0, maxAttempts: 2, minDelay: '0s', maxDelay: '1s' } as const;
    const circuit = { coolDown: '1s' } as const;
    await stage.deploy({
      operations: Object.fromEntries(
        Object.entries(kinds).map(([name, each]) => [
          name,
          { target: ['depot'], downstream: each, batch: { maxWait: '1s' }, retry, circuit },
        ]),
      ),
    });
    flow = flowOn(await stage.open(), downstream, 'ship');
  });
  afterAll(async () => {
    await stage?.remove();
    await downstream?.stop();
  });

  const send = (operation: string, ...ns: string[]): Promise<string[]> =>
    flow.send(ns.map((n) => ({ operation, payload: { depot: 'MUC', n } })));
  const tasksOf = async (ids: readonly string[]) => {
    await flow.settled(ids);
    return Promise.all(ids.map((id) => flow.task(id)));
  };

  it('signs HTTP calls with a secret of SSM, and sends one of Secrets Manager', async () => {
    await tasksOf(await send('ship', 'a'));
    const [{ text } = { text: '' }] = downstream.calls;
    const header = String(headers[0]?.['groupage-signature']);
    expect(verify({ header, body: text, secrets: ['whsec_kinds'], now: Date.now() })).toBe(true);
    expect(headers[0]?.authorization).toBe('Bearer kinds');
  });

  it('invokes a function, and each task gets its result', async () => {
    const ids = await send('invoked', 'a', 'fails');
    const [good, bad] = await tasksOf(ids);
    expect(good).toMatchObject({ status: 'succeeded', result: { attempt: 1 } });
    expect((good as { result: { idempotencyKey: string } }).result.idempotencyKey).toMatch(/#\d+#\d+\.[\w-]{16}$/);
    expect(bad).toMatchObject({ status: 'failed', error: { code: 'bad', message: 'cannot' } });
  });

  it('invokes a function again after it threw', async () => {
    const [task] = await tasksOf(await send('invoked', 'throws'));
    expect(task).toMatchObject({ status: 'succeeded', result: { attempt: 2 } });
  });

  it('reports a missing function, and calls it once it exists', async () => {
    const [id = ''] = await send('late', 'a');
    const checked = /the function kinds-late could not be called \(\w+\): check the operation's downstream/;
    await eventually(async () => {
      const task = (await flow.task(id)) as { waitsFor?: { reason: string; text: string } } | undefined;
      return task?.waitsFor?.reason === 'circuit-open' && checked.test(task.waitsFor.text);
    });
    await makeFunction('kinds-late', functionRole);
    expect(await tasksOf([id])).toMatchObject([{ status: 'succeeded' }]);
  });

  it('starts an execution with the batch as its input', async () => {
    const [id] = await send('started', 'a');
    let executionArn: string | undefined;
    await eventually(async () => {
      const { executions = [] } = await sfn.send(new ListExecutionsCommand({ stateMachineArn }));
      executionArn = executions[0]?.executionArn;
      return executionArn !== undefined;
    });
    const { input = '' } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    expect(JSON.parse(input)).toMatchObject({ operation: 'started', attempt: 1, items: [{ id, payload: { n: 'a' } }] });
  });

  it('puts a batch into a queue, and its tasks succeed', async () => {
    const ids = await send('queued', 'a', 'b');
    for (const task of await tasksOf(ids)) expect(task).toMatchObject({ status: 'succeeded' });
    const bodies: { items: { id: string }[] }[] = [];
    await eventually(async () => {
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      bodies.push(...Messages.map(({ Body = '' }) => JSON.parse(Body) as { items: { id: string }[] }));
      return bodies.flatMap(({ items }) => items).length >= ids.length;
    });
    expect(bodies.flatMap(({ items }) => items.map(({ id }) => id)).toSorted()).toEqual(ids.toSorted());
  });
});
