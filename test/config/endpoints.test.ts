import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { fromJson, HTTP, ofDestination, ofDownstream, problemsIn, URL_HERE } from './problems.ts';

const WHERE = '{"ssm": the name of a parameter} or {"secretsManager": the name or ARN of a secret}';
const SECRET = `must refer to a secret, as one of ${WHERE}`;
const HEADER = `must be a text of at most 1,000 printable ASCII characters, or refer to a secret, as one of ${WHERE}`;
const COMMITTED = 'is a secret, and a configuration is committed: refer to it as {"ssm": …} or {"secretsManager": …}';
const DOWNSTREAMS = '"http", "lambda", "step-functions" or "queue"';
const DESTINATIONS = '"queue", "topic", "event-bus" or "http"';
const AN_URL = 'must be an http or https URL such as https://parcels.example/batch';
const QUEUE = 'must be the name or the ARN of a standard queue (not its URL, and no FIFO queue), not';
const headers = (values: unknown) => ({ ...HTTP, headers: values });
const arn = (rest: string) => `arn:aws:${rest.replace('HERE', 'eu-central-1:123456789012')}`;

describe('an invalid downstream is refused', () => {
  it.each<[unknown, string]>([
    [undefined, `must be an object with a "kind": ${DOWNSTREAMS}, not nothing`],
    ['https://me:s3cret@host/', `must be an object with a "kind": ${DOWNSTREAMS}, not a text`],
    [[], `must be an object with a "kind": ${DOWNSTREAMS}, not a list`],
    [{}, `kind must be ${DOWNSTREAMS}, not nothing`],
    [{ kind: null }, `kind must be ${DOWNSTREAMS}, not null`],
    [{ kind: 'ftp' }, `kind must be ${DOWNSTREAMS}, not "ftp"`],
    [{ kind: 'toString' }, `kind must be ${DOWNSTREAMS}, not "toString"`],
    [{ kind: ['http'] }, `kind must be ${DOWNSTREAMS}, not a list`],
    [
      { ...HTTP, function: 'f' },
      'function is unknown; known are kind, url, method, headers, auth, request, response, secret, legacySignature, usageHeader, timeout, deadline, requireResults',
    ],
    [
      { kind: 'lambda', function: 'f', url: URL_HERE },
      'url is unknown; known are kind, function, timeout, deadline, requireResults',
    ],
    [{ kind: 'queue', name: 'q', deadline: '5m' }, 'deadline is unknown; known are kind, name, timeout'],
    [{ ...HTTP, requireResults: 'yes' }, 'requireResults must be true, false or null, not "yes"'],
    [
      { kind: 'queue', name: 'q', requireResults: true },
      'requireResults has no meaning for a queue: its tasks succeed when their message is sent, and no consumer answers',
    ],
    [
      { ...HTTP, usageHeader: 'x-usage: s3cret' },
      'usageHeader is not a valid name of a response header: use letters, digits and -, such as "x-usage"',
    ],
    [
      { kind: 'lambda', function: 'f', usageHeader: 'x-usage' },
      'usageHeader is unknown; known are kind, function, timeout, deadline, requireResults',
    ],
    [{ kind: 'http', url: 5 }, `url ${AN_URL}, not a number`],
    [{ kind: 'http', url: { key: 's3cret' } }, `url ${AN_URL}, not an object`],
    ...['http//me:s3cret@host/', 'htp://me:s3cret@host/', 'http://me:s3cret@ho st/', 'ftp://host/'].map(
      (url): [unknown, string] => [{ kind: 'http', url }, `url ${AN_URL}`],
    ),
    [
      { kind: 'http', url: 'http://me:s3cret@host/' },
      'url must not contain a user name or password: set a header whose value refers to a secret',
    ],
    [
      { ...HTTP, timeout: '5m' },
      'timeout must be a duration from "100ms" to "4m" (a number with ms, s, m, h or d), not "5m"',
    ],
    [
      { ...HTTP, deadline: '8d' },
      'deadline must be a duration from "1m" to "7d" (a number with ms, s, m, h or d), not "8d"',
    ],
    [{ ...HTTP, secret: 's3cret' }, `secret ${SECRET}`],
    [{ ...HTTP, secret: {} }, `secret ${SECRET}`],
    [{ ...HTTP, secret: { ssm: 's3cret with spaces' } }, `secret ${SECRET}`],
    [{ ...HTTP, secret: { ssm: 'a/b' } }, `secret ${SECRET}`],
    [{ ...HTTP, secret: { ssm: 'a', secretsManager: 'b' } }, `secret ${SECRET}`],
    [{ ...HTTP, secret: { secretsManager: arn('ssm:HERE:parameter/a') } }, `secret ${SECRET}`],
    [{ ...HTTP, secret: { ssm: 'a', foo: 1 } }, 'secret.foo is unknown; known are ssm, secretsManager'],
    [
      { ...HTTP, secret: fromJson('{"ssm":"a","__proto__":{}}') },
      'secret.__proto__ is unknown; known are ssm, secretsManager',
    ],
    [headers(null), 'headers must be an object of headers and their values, not null'],
    [headers({ 'x-team': 1 }), `headers.x-team ${HEADER}`],
    [headers({ 'x-team': 's3cret\r\nx: y' }), `headers.x-team ${HEADER}`],
    [headers({ 'x-team': 'x'.repeat(1_001) }), `headers.x-team ${HEADER}`],
    [headers({ authorization: { ssm: '' } }), `headers.authorization ${HEADER}`],
    [
      headers({ authorization: { ssm: 'a', foo: 1 } }),
      'headers.authorization.foo is unknown; known are ssm, secretsManager',
    ],
    ...[
      'Authorization',
      'Proxy-Authorization',
      'cookie',
      'X-Api-Key',
      'x-auth',
      'x-access-key',
      'x-my-token',
      'x-signature',
    ].map((name): [unknown, string] => [headers({ [name]: 's3cret' }), `headers.${name} ${COMMITTED}`]),
    ...['Content-Type', 'host', 'Idempotency-Key', 'Groupage-Signature', 'Expect', 'Upgrade'].map(
      (name): [unknown, string] => [
        headers({ [name]: 'x' }),
        `headers.${name} is a header that Groupage sets itself: leave it out`,
      ],
    ),
    [
      headers({ 'x-a': 'b', 'Authorization: Bearer s3cret': '' }),
      'headers has an invalid header name (header number 2)',
    ],
    [headers({ 'X-Team': 'a', 'x-team': 'b' }), 'headers.x-team is set twice: header names are not case-sensitive'],
    [headers(fromJson('{"__proto__":"x"}')), 'headers.__proto__ is a name that JavaScript reserves: choose another'],
    [
      { kind: 'lambda', function: 'f:live' },
      'function must be the name or the ARN of a function (with an alias or a version: the ARN), not "f:live"',
    ],
    [
      { kind: 'lambda' },
      'function must be the name or the ARN of a function (with an alias or a version: the ARN), not nothing',
    ],
    [
      { kind: 'lambda', function: arn('lambda:HERE:layer:f:1') },
      expect.stringMatching(/^function must be .* of a function/) as unknown as string,
    ],
    [
      { kind: 'step-functions', stateMachine: arn('states:HERE:execution:m:x') },
      expect.stringMatching(
        /^stateMachine must be the name or the ARN of a state machine, not "arn:/,
      ) as unknown as string,
    ],
    [{ kind: 'queue', name: 'orders.fifo' }, `name ${QUEUE} "orders.fifo"`],
    [{ kind: 'queue', name: arn('sqs:HERE:orders.fifo') }, `name ${QUEUE} "${arn('sqs:HERE:orders.fifo')}"`],
    [{ kind: 'queue', name: arn('sns:HERE:orders') }, `name ${QUEUE} "${arn('sns:HERE:orders')}"`],
    [{ kind: 'queue', name: arn('sqs:HERE:*') }, `name ${QUEUE} "${arn('sqs:HERE:*')}"`],
    [{ kind: 'queue', name: 'arn:aws:sqs:x' }, `name ${QUEUE} "arn:aws:sqs:x"`],
    [{ kind: 'queue', name: 'https://sqs.aws/1/q' }, `name ${QUEUE} "https://sqs.aws/1/q"`],
  ])('%#: %s', (downstream, problem) => {
    expect(ofDownstream(downstream)).toEqual([problem]);
  });
});

describe('an invalid destination is refused', () => {
  it.each<[unknown, string]>([
    [null, `must be an object with a "kind": ${DESTINATIONS}, not null`],
    [{}, `kind must be ${DESTINATIONS}, not nothing`],
    [{ kind: 'lambda', function: 'f' }, `kind must be ${DESTINATIONS}, not "lambda"`],
    [{ kind: 'queue', name: 'a', foo: 1 }, 'foo is unknown; known are kind, name'],
    [{ kind: 'queue', name: 'a.fifo' }, `name ${QUEUE} "a.fifo"`],
    [
      { kind: 'topic', name: 'a.fifo' },
      'name must be the name or the ARN of a standard topic (no FIFO topic), not "a.fifo"',
    ],
    [
      { kind: 'event-bus', name: arn('events:HERE:rule/a') },
      `name must be the name or the ARN of an event bus, not "${arn('events:HERE:rule/a')}"`,
    ],
    [{ kind: 'http', url: 'https://host/' }, `secret ${SECRET}`],
    [{ kind: 'http', url: 'https://host/', secret: null }, `secret ${SECRET}`],
    [
      { kind: 'http', url: 'https://host/', secret: { ssm: 'a' }, headers: { cookie: 's3cret' } },
      `headers.cookie ${COMMITTED}`,
    ],
    [
      { kind: 'http', url: 'https://host/', secret: { ssm: 'a' }, name: 'a' },
      'name is unknown; known are kind, url, headers, secret, legacySignature, timeout',
    ],
  ])('%#: %s', (destination, problem) => expect(ofDestination(destination)).toEqual([problem]));
});

it('names and ARNs of any account are accepted for each kind', () => {
  for (const downstream of [
    { kind: 'queue', name: 'orders' },
    { kind: 'queue', name: arn('sqs:HERE:orders') },
    { kind: 'lambda', function: 'run-jobs' },
    { kind: 'lambda', function: 'arn:aws-cn:lambda:cn-north-1:123456789012:function:run-jobs:live' },
    { kind: 'step-functions', stateMachine: 'jobs' },
    { kind: 'step-functions', stateMachine: arn('states:HERE:stateMachine:jobs') },
    {
      ...HTTP,
      secret: { ssm: '/prod/key' },
      headers: { 'X-Team': 'a', authorization: { secretsManager: 'prod/token' } },
    },
    { ...HTTP, secret: { secretsManager: arn('secretsmanager:HERE:secret:prod/key-AbCdEf') } },
  ])
    expect(ofDownstream(downstream), JSON.stringify(downstream)).toEqual([]);
  for (const destination of [
    { kind: 'topic', name: 'ops' },
    { kind: 'topic', name: arn('sns:HERE:ops') },
    { kind: 'event-bus', name: 'default' },
    { kind: 'event-bus', name: arn('events:HERE:event-bus/ops') },
    { kind: 'http', url: 'https://host/', secret: { ssm: 'a' } },
  ])
    expect(ofDestination(destination), JSON.stringify(destination)).toEqual([]);
});

it('callbacks accept configured destinations only, and no Object property', () => {
  const told = (failed: string, destinations?: object) =>
    problemsIn({
      operations: { ship: { target: [], downstream: HTTP, callbacks: { failed } } },
      ...(destinations ? { destinations } : {}),
    });
  const ops = { kind: 'queue', name: 'ops' };
  expect(told('ops', { ops })).toEqual([]);
  const path = 'operations.ship.callbacks.failed';
  expect(told('ops')).toEqual([`${path} names an unknown destination, "ops": none is configured under "destinations"`]);
  expect(told('constructor', { ops, more: ops })).toEqual([
    `${path} names an unknown destination, "constructor": configured are ops, more`,
  ]);
  expect(told('__proto__', { ops })[0]).toMatch(/^operations\.ship\.callbacks\.failed must be the name of one of /);
  const parsed = parseConfig({ operations: { ship: { target: [], downstream: HTTP } }, destinations: { ops } });
  expect(parsed).toMatchObject({ ok: true, value: { destinations: { ops } } });
});

it('no problem of a configuration contains a secret', () => {
  const address = 'http://me:s3cret@host/?key=s3cret';
  const wrong: unknown[] = [
    ...[address, 's3cret', { address }, [address], { key: 's3cret' }].flatMap((value) => [
      ofDownstream(value),
      ofDownstream({ kind: 'http', url: value }),
      ofDownstream({ ...HTTP, secret: value }),
      ofDownstream(headers({ authorization: value })),
      ofDownstream(headers({ 'x-team': [value] })),
      ofDestination(value),
      problemsIn(value),
      problemsIn({ operations: value }),
      ...['batch', 'retry', 'circuit', 'merge', 'callbacks'].map((name) =>
        problemsIn({ operations: { ship: { target: [], downstream: HTTP, [name]: value } } }),
      ),
    ]),
    ofDownstream(headers(address)),
    ofDownstream(headers([address])),
    ofDownstream(headers({ 'authorization: Bearer s3cret': '' })),
    ofDownstream(headers({ authorization: 's3cret' })),
  ];
  for (const problems of wrong) {
    expect(problems).not.toEqual([]);
    expect(JSON.stringify(problems)).not.toContain('s3cret');
  }
});
