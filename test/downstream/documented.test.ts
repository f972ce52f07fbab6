/** Runs the signature check that the documentation shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sign } from '../../src/domain/downstream/signature.ts';

type IsFromGroupage = (header: string | undefined, body: string | Buffer, secret: string) => boolean;

const shown = (): Promise<{ readonly isFromGroupage: IsFromGroupage }> => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/downstream-call.md'), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(text) ?? [];
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
};

describe('the documented signature check', () => {
  it('accepts a valid signature, and no other', async () => {
    const { isFromGroupage } = await shown();
    const body = '{"items":["Zoë 🚚"]}';
    const header = sign('whsec', body, Date.now());
    expect(isFromGroupage(header, body, 'whsec')).toBe(true);
    expect(isFromGroupage(header, Buffer.from(body), 'whsec')).toBe(true);
    expect(isFromGroupage(header, `${body} `, 'whsec')).toBe(false);
    expect(isFromGroupage(header, body, 'other')).toBe(false);
    expect(isFromGroupage(undefined, body, 'whsec')).toBe(false);
    expect(isFromGroupage(header.slice(0, -1), body, 'whsec')).toBe(false);
    for (const late of [-301_000, 301_000])
      expect(isFromGroupage(sign('whsec', body, Date.now() + late), body, 'whsec')).toBe(false);
  });
});
