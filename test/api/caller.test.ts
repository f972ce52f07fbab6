/** Who sent a request, in each form in which AWS passes on the identity, and on this machine. */
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { expect, it } from 'vitest';
import { type Caller, callerIn, callerOf } from '../../src/api/shared/caller.ts';
import { principalOf } from '../../src/domain/deployed/principal.ts';
import { forLocalUser } from '../../tools/local/local-user.ts';

const ACCOUNT = '111122223333';
const SESSION = `arn:aws:sts::${ACCOUNT}:assumed-role/ops/me@shop.example`;
const ROLE_ID = 'AROAJQABLZS4A3QDU576Q';
const HTTP = { method: 'GET', path: '/v1/x', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'node' };

/** The fields of `requestContext.authorizer.iam`. */
const iam = (callerId: string, userArn: string) => ({
  http: HTTP,
  authorizer: {
    iam: {
      accessKey: 'ASIAEXAMPLE',
      accountId: ACCOUNT,
      callerId,
      cognitoIdentity: null,
      principalOrgId: 'o-abcdefghij',
      userArn,
      userId: callerId,
    },
  },
});

const ROLE: Caller = {
  id: ROLE_ID,
  name: 'ops',
  arn: SESSION,
  from: '192.0.2.1',
  userAgent: 'node',
  principal: { kind: 'role', account: ACCOUNT, name: 'ops', session: 'me@shop.example' },
};

it('the caller of a function URL or an HTTP API is its role, without the session', () => {
  expect(callerIn(iam(`${ROLE_ID}:me@shop.example`, SESSION))).toEqual(ROLE);
});

it('the caller of a REST API is its role, without the session', () => {
  const caller = `${ROLE_ID}:me@shop.example`;
  const identity = {
    caller,
    user: caller,
    userArn: SESSION,
    sourceIp: '192.0.2.1',
    userAgent: 'node',
    vpceId: 'vpce-0',
  };
  expect(callerIn({ stage: 'v1', identity })).toEqual(ROLE);
});

it('a user, the root user and a federated user have ids of their own', () => {
  const user = callerIn(iam('AIDAEXAMPLE', `arn:aws:iam::${ACCOUNT}:user/team/anna`));
  const root = callerIn(iam(ACCOUNT, `arn:aws:iam::${ACCOUNT}:root`));
  const federated = callerIn(iam(`${ACCOUNT}:anna`, `arn:aws-cn:sts::${ACCOUNT}:federated-user/anna`));
  expect([user, root, federated].map(({ id, name, principal }) => [id, name, principal?.kind])).toEqual([
    ['AIDAEXAMPLE', 'anna', 'user'],
    [ACCOUNT, 'root', 'root'],
    [`${ACCOUNT}:anna`, 'anna', 'federated-user'],
  ]);
});

it('a caller without a unique id gets an id from its ARN', () => {
  const of = (userArn: string) => callerIn({ authorizer: { iam: { userArn, callerId: null } } }).id;
  expect(of(SESSION)).toBe(`${ACCOUNT}:role/ops`);
  expect(of(`arn:aws:iam::${ACCOUNT}:root`)).toBe(ACCOUNT);
});

it.each<[string, Record<string, unknown>]>([
  ['nothing', {}],
  ['an authorizer of another kind', { authorizer: { jwt: { claims: {} } } }],
  ['null', { authorizer: null, identity: null, http: null }],
  ['numbers', { authorizer: { iam: { callerId: 7, userArn: 8 } }, http: { sourceIp: 9, userAgent: 10 } }],
  ['empty texts', { authorizer: { iam: { callerId: '', userArn: '' } }, identity: { caller: '', sourceIp: '' } }],
  ['an id that is too long', { authorizer: { iam: { callerId: 'A'.repeat(257) } } }],
  ['half a surrogate pair', { authorizer: { iam: { callerId: '\ud800' } }, http: { sourceIp: '\ud800' } }],
])('the caller is unknown if the event has %s', (_, context) => {
  expect(callerIn(context)).toEqual({ id: 'unknown' });
});

it('a user agent is cut, and made well-formed', () => {
  const { userAgent } = callerIn({ http: { userAgent: `\ud83d${'x'.repeat(196)}😀` } });
  expect(userAgent).toBe(`\ufffd${'x'.repeat(196)}`);
});

const showing = () => new Hono().all('*', (context) => context.json(callerOf(context)));

it('the API reads the caller from the event of its function', async () => {
  const answer = await handle(showing())({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/v1/x',
    rawQueryString: '',
    headers: { host: 'id.lambda-url.eu-central-1.on.aws' },
    requestContext: { domainName: 'id.lambda-url.eu-central-1.on.aws', ...iam(`${ROLE_ID}:me@shop.example`, SESSION) },
    isBase64Encoded: false,
  } as never);
  expect(JSON.parse((answer as { readonly body: string }).body)).toEqual(ROLE);
});

it('the caller of a local API is the user of the operating system', async () => {
  expect(await (await forLocalUser(showing()).request('/v1/x')).json()).toEqual({
    id: 'local',
    name: expect.stringMatching(/./),
  });
  expect(await (await showing().request('/v1/x')).json()).toEqual({ id: 'local' });
});

it.each([
  [`arn:aws:iam::${ACCOUNT}:role/service/path/ops`, { kind: 'role', account: ACCOUNT, name: 'ops' }],
  [`arn:aws-us-gov:iam::${ACCOUNT}:user/ops`, { kind: 'user', account: ACCOUNT, name: 'ops' }],
  [`arn:aws:iam::${ACCOUNT}:group/ops`, undefined],
  [`arn:aws:iam::${ACCOUNT}:role/`, undefined],
  [`arn:aws:iam::${ACCOUNT}:role`, undefined],
  [`arn:aws:sts::${ACCOUNT}:assumed-role/ops`, undefined],
  [`arn:aws:sts::${ACCOUNT}:assumed-role/ops/me/again`, undefined],
  ['arn:aws:iam::1:user/ops', undefined],
  ['*', undefined],
  ['', undefined],
])('the principal of %s is found, or undefined', (arn, principal) => {
  expect(principalOf(arn)).toEqual(principal);
});
