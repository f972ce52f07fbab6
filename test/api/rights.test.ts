/** The rights of callers: which call needs which, and what callers with a limit get. */
import { describe, expect, it } from 'vitest';
import { lazyApi } from '../../src/api/lazy.ts';
import { includes, limitOf, parseLimits } from '../../src/domain/deployed/limits.ts';
import { principalOf } from '../../src/domain/deployed/principal.ts';
import { CALLS } from '../../tools/contract/openapi.ts';
import { aConfig } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const ACCOUNT = '111122223333';
const LIMITS = parseLimits(
  JSON.stringify({
    read: [`arn:aws:iam::${ACCOUNT}:role/service/Reader`, `arn:aws:iam::${ACCOUNT}:user/team/anna`],
    operate: [`arn:aws:iam::${ACCOUNT}:role/OnCall`],
  }),
);
const session = (role: string) => `arn:aws:sts::${ACCOUNT}:assumed-role/${role}/me`;

const asking = async () => {
  const kit = stepKit(await memoryStores(), aConfig());
  const deps = { ...kit, newId: () => 'new', limits: LIMITS, onError: () => {} };
  const app = lazyApi(deps);
  return async (userArn: string | undefined, method: string, path: string, body?: object) => {
    const iam = userArn === undefined ? {} : { authorizer: { iam: { userArn, callerId: 'AROAEXAMPLE:me' } } };
    const env = { event: { requestContext: iam }, requestContext: iam };
    const init = { method, ...(body ? { body: JSON.stringify(body) } : {}) };
    const answer = await app.request(`/v1${path}`, init, env);
    return {
      status: answer.status,
      mediaType: answer.headers.get('content-type'),
      ...((await answer.json()) as object),
    };
  };
};

describe('a caller', () => {
  it('gets 403 for each call that its right does not include', async () => {
    const ask = await asking();
    for (const { on, right, id } of CALLS) {
      const [method = '', path = ''] = on.split(' ');
      const at = path.replaceAll(/:\w+(?:\{.+?\})?/g, 'x');
      for (const [role, limit] of [
        ['Reader', 'read'],
        ['OnCall', 'operate'],
      ] as const) {
        const { status } = await ask(session(role), method, at, method === 'GET' ? undefined : {});
        expect([id, role, status === 403]).toEqual([id, role, !includes(limit, right)]);
      }
    }
    expect(CALLS.length).toBeGreaterThan(40);
  });

  it('gets the reason and a way out before its request is read', async () => {
    const ask = await asking();
    expect(await ask(session('Reader'), 'POST', '/operations/ship/pause?odd=1', { odd: 1 })).toEqual({
      status: 403,
      mediaType: 'application/problem+json',
      type: 'about:blank',
      title: 'Forbidden',
      detail: expect.stringMatching(
        /^nothing was done: role Reader has the right read, and this call needs the right operate.*groupage\.grantOperate/,
      ),
    });
    expect(await ask(session('OnCall'), 'POST', '/tasks', {})).toMatchObject({
      detail: expect.stringMatching(/role OnCall has the right operate.*needs the right work.*groupage\.grantApi/),
    });
  });

  it('without a limit may do everything', async () => {
    const ask = await asking();
    const task = { operation: 'ship', payload: { depot: 'MUC' } };
    for (const arn of [session('Service'), `arn:aws:iam::${ACCOUNT}:root`, session('Reader').replace('1111', '9999')])
      expect((await ask(arn, 'POST', '/tasks', task)).status).toBe(202);
  });

  it('that could be a limited one may do nothing', async () => {
    const ask = await asking();
    expect(await ask(undefined, 'GET', '/about')).toMatchObject({
      status: 403,
      detail: expect.stringMatching(/has no identity of IAM/),
    });
    expect(await ask(`arn:aws:sts::${ACCOUNT}:federated-user/anna`, 'GET', '/about')).toMatchObject({
      status: 403,
      detail: expect.stringMatching(/a federation token does not say which user requested it/),
    });
  });
});

describe('limits', () => {
  it.each([
    [session('Reader'), 'read'],
    [session('READER'), 'read'],
    [`arn:aws:iam::${ACCOUNT}:role/Reader`, 'read'],
    [`arn:aws:iam::${ACCOUNT}:user/anna`, 'read'],
    [session('OnCall'), 'operate'],
    [`arn:aws:iam::${ACCOUNT}:user/Reader`, undefined],
    [session('anna'), undefined],
    [session('Readers'), undefined],
    ['arn:aws:sts::444455556666:federated-user/anna', undefined],
  ])('of %s are %s, whatever the path, session and case', (arn, limit) => {
    expect(limitOf(LIMITS, principalOf(arn))).toBe(limit);
  });

  it('of a caller that is named twice are the larger ones', () => {
    const arn = `arn:aws:iam::${ACCOUNT}:role/a`;
    expect([...parseLimits(JSON.stringify({ operate: [arn], read: [arn] })).values()]).toEqual(['operate']);
  });

  it('that name no role and no user are an error', () => {
    for (const arn of [`arn:aws:iam::${ACCOUNT}:root`, `arn:aws:iam::${ACCOUNT}:group/a`, 'ops'])
      expect(() => parseLimits(JSON.stringify({ read: [arn] }))).toThrow(/neither a role nor a user/);
  });
});
