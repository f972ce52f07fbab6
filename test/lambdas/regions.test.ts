/** Each AWS service that a configuration names by an ARN is called in the region of that ARN. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { waysTo } from '../../lambdas/destinations.ts';
import { downstreamsOf } from '../../lambdas/downstreams.ts';
import { type Host, machine } from '../../lambdas/host.ts';
import { secretsOf } from '../../lambdas/secrets.ts';
import { awsClients } from '../../src/aws/clients.ts';
import { dynamoDBProcessed } from '../../src/aws/dynamodb-processed.ts';
import type { Destination, DownstreamTarget } from '../../src/domain/config/endpoints.ts';
import { type AwsService, awsError, regionOf, startAwsService } from '../factories/aws-service.ts';
import { errorLog } from '../factories/error-log.ts';
import { aCall, aConfig, operationName } from '../factories/factories.ts';

const HERE = 'us-east-1';
const TIMES = { timeout: 20_000, deadline: 60_000, requireResults: null };
const arn = (service: string, resource: string): string => `arn:aws:${service}:eu-west-1:999999999999:${resource}`;

let service: AwsService;
let host: Host;

beforeEach(async () => {
  service = await startAwsService(() => awsError(400, 'AccessDeniedException'));
  const settings = {
    AWS_ENDPOINT_URL: service.options.endpoint,
    AWS_REGION: HERE,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  host = { clients: awsClients(), log: errorLog([]) };
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await service.stop();
});

const regions = () => new Set(service.requests.map(({ headers }) => regionOf(headers)));

it.each<DownstreamTarget>([
  { kind: 'lambda', function: arn('lambda', 'function:parcels:live'), ...TIMES },
  { kind: 'step-functions', stateMachine: arn('states', 'stateMachine:parcels'), ...TIMES },
  { kind: 'queue', name: arn('sqs', 'parcels'), ...TIMES },
])('a downstream of kind $kind is called in its region', async (downstream) => {
  const operation = operationName('ship');
  const merging = { processed: dynamoDBProcessed(host.clients.dynamodb, 'locks'), machine, report: () => [] };
  const call = () =>
    downstreamsOf(aConfig({ operation, downstream }), process.env, host, merging)(operation).call(aCall());
  expect(await call()).toMatchObject({ misconfigured: true });
  expect(regions()).toEqual(new Set(['eu-west-1']));
});

it.each<Destination>([
  { kind: 'queue', name: arn('sqs', 'ops') },
  { kind: 'topic', name: arn('sns', 'news') },
  { kind: 'event-bus', name: arn('events', 'event-bus/orders') },
])('a destination of kind $kind is called in its region', async (destination) => {
  const event = {
    text: '{}',
    source: '/groupage/here/ship',
    type: 'groupage.task.failed',
    time: '2026-01-01T00:00:00Z',
  };
  await expect(waysTo(process.env, host, machine)(destination)(event)).rejects.toThrow();
  expect(regions()).toEqual(new Set(['eu-west-1']));
});

it('a secret is read in the region of its ARN, or of the function', async () => {
  service.behave(() => ({ body: { SecretString: 'hunter2' } }));
  const { read } = secretsOf(host, machine);
  expect(await read({ secretsManager: arn('secretsmanager', 'secret:key-AbCdEf') })).toBe('hunter2');
  expect(regions()).toEqual(new Set(['eu-west-1']));
  expect(await read({ secretsManager: 'key' })).toBe('hunter2');
  expect(regions()).toEqual(new Set(['eu-west-1', HERE]));
});
