/** Rights on downstreams: the batch handler may call exactly the configured ones, and no other function may. */
import { describe, expect, it } from 'vitest';
import type { DownstreamTarget } from '../../src/domain/config/endpoints.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { aConfig, aDownstream, operationName } from '../factories/factories.ts';
import { functionsOf, statementsOfQueuePolicy, statementsOfRole } from './rules/flow.ts';
import { at, idOf, listOf, ofType, type Template } from './rules/template.ts';
import { ours } from './templates.ts';

const TIMES = { timeout: 1_000, deadline: 60_000, requireResults: null };

/** An ARN as text, its pseudo parameters in braces. */
const printed = (resource: unknown): string =>
  typeof resource === 'string'
    ? resource
    : ((at(resource as object, 'Fn::Join.1') ?? []) as unknown[])
        .map((part) => (typeof part === 'string' ? part : `{${String(at(part as object, 'Ref'))}}`))
        .join('');

/** The rights of a function on resources outside of the stack. */
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
      'an alias elsewhere',
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
  ])('may call %s and read named secrets, and nothing else', (_, downstream, expected) => {
    const template = templateWith(downstream, downstream);
    expect(outside(template, /BatchHandler/).toSorted()).toEqual(expected.toSorted());
    expect(outside(template, /^(?!.*BatchHandler)/)).toEqual([]);
  });

  it('receives the ARN prefix of state machines if it starts executions', () => {
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

describe('EventBridge', () => {
  const machine = (stateMachine: string): DownstreamTarget => ({ kind: 'step-functions', stateMachine, ...TIMES });
  const rulesOf = (template: Template) =>
    ofType(template, 'AWS::Events::Rule').filter(([, { EventPattern }]) => EventPattern !== undefined);

  it('sends ended executions of configured state machines to the batch queue', () => {
    const arn = 'arn:aws:states:eu-west-1:111122223333:stateMachine:parcels';
    const template = templateWith(machine('parcels'), machine(`${arn}:live`));
    const rules = rulesOf(template);
    expect(rules.map(([, { EventPattern }]) => at(EventPattern as object, 'detail.name'))).toEqual([
      [{ prefix: 'ship-0-' }],
      [{ prefix: 'ship-1-' }],
    ]);
    expect(
      rules.flatMap(([, { EventPattern }]) =>
        (at(EventPattern as object, 'detail.stateMachineArn') as unknown[]).map(printed),
      ),
    ).toEqual([`arn:{AWS::Partition}:states:${HERE}:stateMachine:parcels`, arn]);
    for (const [, { EventPattern, Targets }] of rules) {
      expect(EventPattern).toMatchObject({
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: { status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] },
      });
      const [{ Arn } = { Arn: undefined }, ...others] = Targets as { Arn: unknown }[];
      expect([idOf(Arn), others]).toEqual([expect.stringMatching(/BatchQueue/), []]);
    }
    const allowing = ofType(template, 'AWS::SQS::QueuePolicy').flatMap(([, properties]) =>
      statementsOfQueuePolicy(properties)
        .filter(({ Effect }) => Effect === 'Allow')
        .map(({ Action, Resource, Condition }) => [
          Action,
          idOf(Resource),
          listOf(at(Condition as object, 'ArnEquals.aws:SourceArn') as unknown[]).map(idOf),
        ]),
    );
    expect(allowing).toEqual([['sqs:SendMessage', expect.stringMatching(/BatchQueue/), rules.map(([id]) => id)]]);
  });

  it('has no rule if no operation starts a state machine', () => {
    expect(rulesOf(templateWith(aDownstream(), { kind: 'lambda', function: 'parcels', ...TIMES }))).toEqual([]);
  });
});
