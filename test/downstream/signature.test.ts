import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sign, verify } from '../../src/domain/downstream/signature.ts';
import { NOW } from '../factories/factories.ts';
import { BODY, CASES, REQUEST, SECRET } from './signature-cases.ts';

const header = sign(SECRET, BODY, NOW + 999);
const check = (fields: Partial<Parameters<typeof verify>[0]> = {}): boolean =>
  verify({ header, body: BODY, secrets: [SECRET], now: NOW, ...fields });

describe('a signature', () => {
  const seconds = NOW / 1_000;
  const hex = (text: string): string =>
    createHmac('sha256', Buffer.from(SECRET)).update(Buffer.from(text)).digest('hex');

  it('is the time in seconds and the HMAC-SHA256 of "time.body"', () => {
    expect(header).toBe(`t=${seconds},v1=${hex(`${seconds}.${BODY}`)}`);
  });

  it('with a request is the HMAC-SHA256 of six parts, one a line', () => {
    const text = `v2\n${seconds}\nPOST\n/batch?team=a%20b\nship/depot=MUC#1#1.abc\n${BODY}`;
    expect(sign(SECRET, BODY, NOW + 999, REQUEST)).toBe(`t=${seconds},v2=${hex(text)}`);
  });

  it('has the tolerance that the caller gives', () => {
    expect(check({ now: NOW + 2_000, tolerance: 1_000 })).toBe(false);
    expect(check({ now: NOW + 1_000, tolerance: 1_000 })).toBe(true);
  });

  it('is valid for both secrets during a rotation', () => {
    expect(check({ secrets: ['new', SECRET] })).toBe(true);
    expect(check({ secrets: [] })).toBe(false);
  });

  it.each(CASES.map(({ name, ...rest }) => [name, rest] as const))('is checked for %s', (_, { received, holds }) => {
    const { secret, request, ...rest } = received;
    expect(verify({ ...rest, secrets: [secret], ...(request ? { request } : {}) })).toBe(holds);
  });
});
