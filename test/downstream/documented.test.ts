/** Runs the signature check that the documentation shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CASES } from './signature-cases.ts';

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}
type IsFromGroupage = (request: Request, body: string | Buffer, secret: string, version?: 'v1' | 'v2') => boolean;

const shown = (): Promise<{ readonly isFromGroupage: IsFromGroupage }> => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/downstream-call.md'), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(text) ?? [];
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
};

describe('the documented signature check', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it.each(CASES.map(({ name, ...rest }) => [name, rest] as const))('decides as ours for %s', async (_, each) => {
    const { isFromGroupage } = await shown();
    const { request, header, body, secret, now } = each.received;
    vi.setSystemTime(now);
    const { method, path, idempotencyKey } = request ?? { method: 'POST', path: '/batch', idempotencyKey: 'key' };
    // As node:http gives them: without a header, there is no entry.
    const key = idempotencyKey === '' ? {} : { 'idempotency-key': idempotencyKey };
    const headers = { ...key, [request ? 'groupage-signature-v2' : 'groupage-signature']: header };
    expect(isFromGroupage({ method, url: path, headers }, body, secret, ...(request ? [] : (['v1'] as const)))).toBe(
      each.holds,
    );
  });
});
