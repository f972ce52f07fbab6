/**
 * Roles with each grant for the API, with IAM switched on. The emulator passes the identity of a caller on through an
 * HTTP API, but not through a function URL. AWS does both.
 */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestSigner } from '../../src/aws/signed-request.ts';
import { findStack, openAccount } from '../../tools/account/stacks.ts';
import { deployedStack } from '../backends/backend.ts';
import { ROOT, succeeded } from '../backends/cdk.ts';
import { apiOfStack, resourcesIn } from '../backends/deployed.ts';
import { openStage, type Stage } from '../backends/stage.ts';
import { eventually } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';

const { cloud } = deployedStack();
const CALLS = {
  read: ['GET', '/operations', undefined],
  operate: ['POST', '/operations/ship/resume', {}],
  work: ['POST', '/tasks', { operation: 'ship', payload: { depot: 'MUC' } }],
} as const;
const ROLES = ['Reader', 'OnCall', 'Service'] as const;
type RoleName = (typeof ROLES)[number];

describe('roles with grants for the API', () => {
  let stage: Stage;
  const deploy = async (api?: string): Promise<void> => {
    await stage.deploy({ operations: { ship: operationAt(stage.downstreamUrl) } }, api);
    const app = `node ${ROOT}/test/deployment/rights-app.ts`;
    succeeded(await stage.cdk('deploy', '--all', '--require-approval', 'never', '--app', app));
  };
  beforeAll(async () => {
    stage = openStage('rights');
    await deploy('http-api');
  });
  afterAll(() => stage?.remove());

  const credentialsOf = async (role: RoleName) => {
    const stack = await findStack(await openAccount(process.env), stage.stacks.flow);
    const RoleArn = stack?.outputs[`${role}Role`];
    const { Credentials } = await new STSClient().send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'me' }));
    const { AccessKeyId = '', SecretAccessKey = '', SessionToken = '' } = Credentials ?? {};
    return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  };

  const ask = async (role: RoleName, call: keyof typeof CALLS): Promise<{ status: number; text: string }> => {
    const { address, service } = await apiOfStack(await openAccount(process.env), cloud, stage.stacks.flow);
    const { sha256 } = new STSClient().config;
    const credentials = await credentialsOf(role);
    const sign = requestSigner(service, { region: cloud.region, credentials, sha256 });
    const [method, path, body] = CALLS[call];
    const headers = { 'content-type': 'application/json' };
    const init = body ? { method, body: JSON.stringify(body), headers } : { method };
    const signed = await sign(`${address}/v1${path}`, init);
    const answer = await fetch(signed.address, signed.init);
    return { status: answer.status, text: await answer.text() };
  };

  it.each<[RoleName, Record<keyof typeof CALLS, number>]>([
    ['Reader', { read: 200, operate: 403, work: 403 }],
    ['OnCall', { read: 200, operate: 200, work: 403 }],
    ['Service', { read: 200, operate: 200, work: 202 }],
  ])('%s can call what its right includes, and nothing else', async (role, expected) => {
    // A new role reaches IAM's other parts a little later.
    await eventually(async () => (await ask(role, 'read')).status === 200);
    for (const call of ['read', 'operate', 'work'] as const) {
      const { status, text } = await ask(role, call);
      expect([call, status]).toEqual([call, expected[call]]);
      if (status === 403) expect(text).toMatch(/nothing was done: role \S+ has the right .*groupage\.grant/);
    }
  });

  it('through a function URL may not send an event of their own', async () => {
    await deploy();
    const functions = await resourcesIn(stage.stacks.flow, 'AWS::Lambda::Function');
    const FunctionName = functions.find(({ name }) => name.includes('ApiHandler'))?.name;
    const credentials = await credentialsOf('Reader');
    const event = { version: '2.0', rawPath: '/v1/operations', requestContext: { http: { method: 'GET' } } };
    const invoked = new LambdaClient({ credentials }).send(
      new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
    );
    await expect(invoked).rejects.toThrow(/not authorized to perform: lambda:InvokeFunction/);
    // IAM lets the request through the URL in; the API decides about it.
    const { status, text } = await ask('Reader', 'read');
    expect([status, text]).toEqual(
      cloud.name === 'aws'
        ? [200, expect.stringContaining('"operation":"ship"')]
        : [403, expect.stringMatching(/the request has no identity of IAM/)],
    );
  });
});
