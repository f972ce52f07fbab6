/** Rights on destinations: the callback function may reach exactly the configured ones, all others only its queue. */
import { describe, expect, it } from 'vitest';
import type { Destination } from '../../src/domain/config/endpoints.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { aConfig } from '../factories/factories.ts';
import { functionsOf, mayOn, statementsOfRole } from './rules/flow.ts';
import { at, idOf, listOf, type Template } from './rules/template.ts';
import { ours } from './templates.ts';

/** An ARN as text, its pseudo parameters in braces. */
const printed = (resource: unknown): string =>
  typeof resource === 'string'
    ? resource
    : ((at(resource as object, 'Fn::Join.1') ?? []) as unknown[])
        .map((part) => (typeof part === 'string' ? part : `{${String(at(part as object, 'Ref'))}}`))
        .join('');

/** The rights on resources outside of the stack, each with its function's name. */
const outside = (template: Template): string[] =>
  functionsOf(template).flatMap(([id, { Role }]) =>
    statementsOfRole(template, idOf(Role))
      .flatMap(({ Action, Resource }) =>
        listOf(Resource).flatMap((arn) => listOf(Action).map((action) => [action, arn])),
      )
      .filter(([, arn]) => !(idOf(arn) in template.Resources))
      .map(([action, arn]) => `${id.replace(/^Flow|Function[0-9A-F]{8}$/g, '')} ${String(action)} ${printed(arn)}`),
  );

const templateWith = (...destinations: Destination[]): Template =>
  ours('told', { ...aConfig(), destinations: Object.fromEntries(destinations.map((each, n) => [`to-${n}`, each])) });

const HERE = '{AWS::Region}:{AWS::AccountId}';
const hook = (headers = {}, timeout = 1_000): Destination => ({
  kind: 'http',
  url: 'https://parcels.example/hook',
  headers,
  secret: { ssm: '/parcels/signing' },
  legacySignature: true,
  timeout,
});
const function_ = (template: Template, name: RegExp) => functionsOf(template).find(([id]) => name.test(id));
const settingOf = (template: Template, name: RegExp, setting: keyof typeof ENVIRONMENT): unknown =>
  at(function_(template, name)?.[1] ?? {}, `Environment.Variables.${ENVIRONMENT[setting]}`);

describe('the callback function', () => {
  it.each<[string, Destination, string[]]>([
    [
      'a queue',
      { kind: 'queue', name: 'ops' },
      ['sqs:GetQueueUrl', 'sqs:SendMessage'].map((action) => `${action} arn:{AWS::Partition}:sqs:${HERE}:ops`),
    ],
    ['a topic', { kind: 'topic', name: 'news' }, [`sns:Publish arn:{AWS::Partition}:sns:${HERE}:news`]],
    [
      "another account's topic",
      { kind: 'topic', name: 'arn:aws:sns:eu-west-1:111122223333:news' },
      ['sns:Publish arn:aws:sns:eu-west-1:111122223333:news'],
    ],
    [
      'an event bus',
      { kind: 'event-bus', name: 'orders' },
      [`events:PutEvents arn:{AWS::Partition}:events:${HERE}:event-bus/orders`],
    ],
    [
      'a URL, with its secrets',
      hook({ Authorization: { secretsManager: 'parcels/token' }, 'X-Tenant': 'parcels' }),
      [
        `ssm:GetParameter arn:{AWS::Partition}:ssm:${HERE}:parameter/parcels/signing`,
        `secretsmanager:GetSecretValue arn:{AWS::Partition}:secretsmanager:${HERE}:secret:parcels/token-??????`,
      ],
    ],
  ])('may reach %s, and no other function may', (_, destination, rights) => {
    expect(outside(templateWith(destination))).toEqual(rights.map((right) => `CallbackHandler ${right}`));
  });

  it('receives the ARN prefix of topics if a topic is named', () => {
    const topics = settingOf(templateWith({ kind: 'topic', name: 'news' }), /CallbackHandler/, 'topics');
    expect(printed(topics)).toBe(`arn:{AWS::Partition}:sns:${HERE}:`);
    expect(settingOf(templateWith(hook()), /CallbackHandler/, 'topics')).toBeUndefined();
  });

  it('has time for its slowest destination, and a short visibility', () => {
    const template = templateWith(hook({}, 1_000), hook({}, 45_000), { kind: 'queue', name: 'ops' });
    expect(function_(template, /CallbackHandler/)?.[1].Timeout).toBe(55);
    const [queue] = mayOn(template, function_(template, /BatchHandler/)?.[0] ?? '', 'sqs:SendMessage').filter((id) =>
      id.includes('Callback'),
    );
    expect(template.Resources[queue ?? '']?.Properties.VisibilityTimeout).toBe(85);
  });
});

describe('functions that report outcomes', () => {
  const TELL = ['RegisterHandler', 'GroupHandler', 'BatchHandler', 'SweepHandler', 'ApiHandler'];

  it('alone may send to the callback queue, and receive its URL', () => {
    const template = templateWith({ kind: 'queue', name: 'ops' });
    const telling = functionsOf(template).filter(([id]) =>
      mayOn(template, id, 'sqs:SendMessage').some((queue) => queue.includes('CallbackQueue')),
    );
    const names = telling.map(([id]) => TELL.find((name) => id.includes(name)) ?? id);
    expect(names.toSorted()).toEqual(TELL.toSorted());
    for (const name of TELL)
      expect(idOf(settingOf(template, new RegExp(name), 'callbackQueue'))).toMatch(/^FlowCallbackQueue/);
  });

  it('have no callback rights without destinations', () => {
    const text = JSON.stringify(templateWith());
    expect(text).not.toMatch(/Callback/);
    expect(text).not.toContain(ENVIRONMENT.callbackQueue);
  });
});
