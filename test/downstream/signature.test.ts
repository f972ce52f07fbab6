import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sign, verify } from '../../src/domain/downstream/signature.ts';
import { NOW } from '../factories/factories.ts';

const SECRET = 'whsec_ümlaut';
const BODY = '{"items":[{"payload":{"name":"Zoë 🚚"}}]}';
const header = sign(SECRET, BODY, NOW + 999);
const check = (fields: Partial<Parameters<typeof verify>[0]> = {}): boolean =>
  verify({ header, body: BODY, secrets: [SECRET], now: NOW, ...fields });

describe('a signature', () => {
  it('is the time in seconds and the HMAC-SHA256 of "time.body"', () => {
    const seconds = NOW / 1_000;
    const hex = createHmac('sha256', Buffer.from(SECRET))
      .update(Buffer.from(`${seconds}.${BODY}`))
      .digest('hex');
    expect(header).toBe(`t=${seconds},v1=${hex}`);
  });

  it('is valid for the signed body, as text or as bytes', () => {
    expect(check()).toBe(true);
    expect(check({ body: Buffer.from(BODY) })).toBe(true);
  });

  it('is valid while the clocks differ by at most the tolerance', () => {
    for (const [now, holds] of [
      [NOW + 300_000, true],
      [NOW + 300_001, false],
      [NOW - 300_000, true],
      [NOW - 300_001, false],
    ] as const)
      expect(check({ now })).toBe(holds);
    expect(check({ now: NOW + 2_000, tolerance: 1_000 })).toBe(false);
  });

  it('is valid for both secrets during a rotation', () => {
    expect(check({ secrets: ['new', SECRET] })).toBe(true);
    expect(check({ header: `${header},v1=${sign('old', BODY, NOW).split('=')[2]}`, secrets: ['old'] })).toBe(true);
  });

  it.each<[string, Partial<Parameters<typeof verify>[0]>]>([
    ['another body', { body: `${BODY} ` }],
    ['another secret', { secrets: ['other'] }],
    ['no secret', { secrets: [] }],
    ['an empty secret', { header: sign('', BODY, NOW), secrets: [''] }],
    ['no header', { header: null }],
    ['a header without a digest', { header: header.split(',')[0] }],
    ['a header without a time', { header: header.split(',')[1] }],
    ['another time', { header: header.replace(/t=\d+/, `t=${NOW / 1_000 + 1}`) }],
    ['two times', { header: `${header},t=${NOW / 1_000}` }],
    ['half a digest', { header: header.slice(0, -2) }],
    ['another version', { header: header.replace('v1=', 'v0=') }],
    ['a digest in capitals', { header: header.replace(/v1=.*/, (text) => text.toUpperCase()) }],
    ['a time that is none', { header: header.replace(/t=\d+/, 't=soon') }],
  ])('is invalid for %s', (_, fields) => expect(check(fields)).toBe(false));
});
