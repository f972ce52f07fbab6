import { afterEach, expect, it, vi } from 'vitest';
import { defaultProvider } from '../../lambdas/credentials.ts';

afterEach(() => vi.unstubAllEnvs());

const given = (key: string | undefined, secret: string | undefined, token: string | undefined) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', key);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
};

it("a function's credentials come from its environment, with the token of its role", async () => {
  given('key', 'secret', 'token');
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'token' });
  given('key', 'secret', undefined);
  expect(await defaultProvider()()).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
});

it('without credentials the error names the missing ones, and no value', async () => {
  given('key', undefined, 'token');
  vi.stubEnv('AWS_PROFILE', 'somebody');
  const refused = await defaultProvider()().catch((cause: unknown) => cause);
  expect(refused).toMatchObject({ name: 'NoCredentials' });
  expect(String(refused)).toContain('AWS_SECRET_ACCESS_KEY');
  expect(String(refused)).not.toContain('token');
});
