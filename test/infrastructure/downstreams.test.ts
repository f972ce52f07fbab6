/** What the functions may do with downstreams: exactly what is configured, and the batch handler alone. */
import { describe, expect, it } from 'vitest';
import type { DownstreamTarget } from '../../src/config/endpoints.ts';
import { ENVIRONMENT } from '../../src/environment.ts';
import { aConfig, aDownstream, operationName } from '../factories/factories.ts';
import { functionsOf, statementsOfRole } from './rules/flow.ts';
import { at, idOf, listOf, type Template } from './rules/template.ts';
import { ours } from './templates.ts';

const TIMES = { timeout: 1_000, deadline: 60_000 };

/** An ARN as text, its pseudo parameters in braces. */
const printed = (resource: unknown): string =>
  typeof resource === 'string'
    ? resource
    : ((at(resource as object, 'Fn::Join.1') ?? []) as unknown[])
        .map((part) => (typeof part === 'string' ? part : `{${String(at(part as object, 'Ref'))}}`))
        .join('');

/** What a function may do outside of the stack. */
const outside = (template: Template, fn: RegExp): string[] =>
  functionsOf(template)
    .filter(([id]) => fn.test(id))
    .flatMap(([, { Role }]) => statementsOfRole(template, idOf(Role)))
    .flatMap(({ Action, Resource }) => listOf(Resource).flatMap((arn) => listOf(Action).map((action) => [action, arn])))
    .filter(([, arn]) => !(idOf(arn) in template.Resources))
    .map(([action, arn]) => `${String(action)} ${printed(arn)}`);

const templateWith = (...downstreams: DownstreamTarget[]): Template =>
  ours(
    'kinds',
    aConfig(...downstreams.map((downstream, n) => ({ operation: operationName(`ship-${n}`), downstream }))),
  );

const HERE = '{AWS::Region}:{AWS::AccountId}';

describe('the batch handler', () => {
  it.each<[string, DownstreamTarget, string[]]>([
    ['a URL', aDownstream(), []],
    [
      'a URL with secrets',
      aDownstream({
        secret: { ssm: '/parcels/signing' },
        headers: {
          'X-Tenant': 'parcels',
          Authorization: { secretsManager: 'parcels/token' },
          Cookie: { secretsManager: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:parcels-AbCdEf' },
          'X-Key': { ssm: 'key' },
        },
      }),
      [
        `ssm:GetParameter arn:{AWS::Partition}:ssm:${HERE}:parameter/parcels/signing`,
        `ssm:GetParameter arn:{AWS::Partition}:ssm:${HERE}:parameter/key`,
        `secretsmanager:GetSecretValue arn:{AWS::Partition}:secretsmanager:${HERE}:secret:parcels/token-??????`,
        'secretsmanager:GetSecretValue arn:aws:secretsmanager:eu-west-1:111122223333:secret:parcels-AbCdEf',
      ],
    ],
    [
      'a function',
      { kind: 'lambda', function: 'parcels', ...TIMES },
      [`lambda:InvokeFunction arn:{AWS::Partition}:lambda:${HERE}:function:parcels`],
    ],
    [
      "a function's alias, elsewhere",
      { kind: 'lambda', function: 'arn:aws:lambda:eu-west-1:111122223333:function:parcels:live', ...TIMES },
      ['lambda:InvokeFunction arn:aws:lambda:eu-west-1:111122223333:function:parcels:live'],
    ],
    [
      'a state machine',
      { kind: 'step-functions', stateMachine: 'parcels', ...TIMES },
      [`states:StartExecution arn:{AWS::Partition}:states:${HERE}:stateMachine:parcels`],
    ],
    [
      'a queue',
      { kind: 'queue', name: 'parcels', ...TIMES },
      ['GetQueueUrl', 'SendMessage'].map((action) => `sqs:${action} arn:{AWS::Partition}:sqs:${HERE}:parcels`),
    ],
  ])(
    'may call %s, read the secrets that are named, and nothing else outside of the stack',
    (_, downstream, expected) => {
      const template = templateWith(downstream, downstream);
      expect(outside(template, /BatchHandler/).toSorted()).toEqual(expected.toSorted());
      expect(outside(template, /^(?!.*BatchHandler)/)).toEqual([]);
    },
  );

  it('is told where state machines are, if it starts executions', () => {
    const settingIn = (template: Template): unknown =>
      functionsOf(template)
        .filter(([id]) => id.includes('BatchHandler'))
        .map(([, properties]) => at(properties, `Environment.Variables.${ENVIRONMENT.stateMachines}`))[0];
    expect(settingIn(templateWith(aDownstream()))).toBeUndefined();
    expect(printed(settingIn(templateWith({ kind: 'step-functions', stateMachine: 'parcels', ...TIMES })))).toBe(
      `arn:{AWS::Partition}:states:${HERE}:stateMachine:`,
    );
  });
});
