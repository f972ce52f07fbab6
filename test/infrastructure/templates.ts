/** The templates that the rules check: our stacks in both kinds of stage, and the construct in a user's app. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { groupageApp } from '../../lib/app.ts';
import { Groupage } from '../../lib/groupage.ts';
import type { HandlerCode } from '../../lib/handler-code.ts';
import { Ops } from '../../lib/ops/ops.ts';
import { stackNames } from '../../lib/stage.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { configFrom } from '../end-to-end/operations.ts';
import { aConfig } from '../factories/factories.ts';
import { joined, type Template } from './rules/template.ts';
import { templateOf } from './synthesised.ts';

/** The feature flags of our app; a user's app has its own. */
export const { context } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')) as {
  context: Record<string, unknown>;
};

/** Rules read resources, not code, so nothing needs to be bundled. */
export const noCode: HandlerCode = () => {
  const folder = temporaryFolder('no-code');
  writeFileSync(join(folder, 'index.mjs'), '');
  return Code.fromAsset(folder);
};

export const ours = (stage: string, config = aConfig(), api = 'function-url'): Template => {
  const app = groupageApp({ config, stage, api, context, builtinCloudFormationValidation: false, code: noCode });
  return joined(Object.values(stackNames(stage)).map((name) => templateOf(app.node.findChild(name) as Stack)));
};

export const OPERATIONS = {
  ship: { target: ['depot'], downstream: { kind: 'http' as const, url: 'http://127.0.0.1/' } },
};

/** An operation for each kind of downstream, by name and by ARN, with every option set. */
const EVERY_KIND: ConfigInput['operations'] = Object.fromEntries(
  (
    [
      {
        kind: 'http',
        url: 'https://parcels.example/batch',
        headers: { Authorization: { secretsManager: 'parcels/token' }, 'X-Tenant': 'parcels' },
        secret: { ssm: '/parcels/signing' },
      },
      { kind: 'lambda', function: 'parcels' },
      { kind: 'lambda', function: 'arn:aws:lambda:eu-west-1:111122223333:function:parcels:live' },
      { kind: 'step-functions', stateMachine: 'parcels' },
      { kind: 'step-functions', stateMachine: 'arn:aws:states:eu-west-1:111122223333:stateMachine:parcels' },
      { kind: 'queue', name: 'parcels' },
      { kind: 'queue', name: 'arn:aws:sqs:eu-west-1:111122223333:parcels' },
    ] as const
  ).map((downstream, n) => [
    `ship-${n}`,
    {
      target: ['depot'],
      downstream,
      ...(n === 0 ? { limits: ['account', 'vendor'], batch: { maxWeight: 2_000 }, rateLimit: 5 } : {}),
    },
  ]),
);
/** Limits of each kind, which the first operation names. */
const LIMITS: ConfigInput['limits'] = {
  vendor: { calls: 10, weight: 90_000, per: '1m', burst: 2 },
  account: { calls: 1, key: ['depot'], concurrency: { calls: 2 } },
};
const DESTINATIONS: ConfigInput['destinations'] = {
  hook: {
    kind: 'http',
    url: 'https://parcels.example/hook',
    headers: { Authorization: { secretsManager: 'parcels/token' } },
    secret: { ssm: '/parcels/signing' },
    timeout: '30s',
  },
  ops: { kind: 'queue', name: 'ops' },
  news: { kind: 'topic', name: 'news' },
  orders: { kind: 'event-bus', name: 'orders' },
};
export const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:on-call';
export const everyKindInput: ConfigInput = {
  operations: EVERY_KIND,
  limits: LIMITS,
  destinations: DESTINATIONS,
  alarms: { topic: TOPIC, runbook: 'https://git.example/operate.md' },
};
export const everyKind = configFrom(everyKindInput);

const theirs = (): Template => {
  // No feature flags at all: the construct must keep the rules in an app of any age.
  const stack = new Stack(new App(), 'TheirStack');
  new Ops(stack, 'Ops', new Groupage(stack, 'Groupage', { config: { operations: OPERATIONS } }));
  return joined([templateOf(stack)]);
};

export interface Subject {
  readonly name: string;
  readonly template: Template;
  /** Whether its data outlives the stack. */
  readonly kept: boolean;
  /** Whether its configuration has destinations. */
  readonly tells?: boolean;
}

export const OURS: readonly Subject[] = [
  { name: 'the stage dev', template: ours('dev'), kept: false },
  { name: 'the stage prod', template: ours('prod'), kept: true },
];
export const THEIRS: Subject = { name: "a user's stack", template: theirs(), kept: true };
const EVERY: Subject = {
  name: 'the full stage',
  template: ours('kinds', everyKind),
  kept: false,
  tells: true,
};
/** With the API behind API Gateway. */
export const GATEWAYS: readonly Subject[] = [
  { name: 'a stage with an HTTP API', template: ours('http', aConfig(), 'http-api'), kept: false },
  { name: 'a stage with a private API', template: ours('private', aConfig(), 'vpce-0123456789abcdef0'), kept: false },
];
export const SUBJECTS: readonly Subject[] = [...OURS, THEIRS, EVERY, ...GATEWAYS];
