import { beforeAll, expect, it } from 'vitest';
import { NEW_SHARE, type Share } from '../../src/domain/callbacks/share.ts';
import { NOW, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { storeKinds } from './stores.ts';

describeEach('the row of shared slots', storeKinds, (stores) => {
  const shares = () => stores().shares;
  const share: Share = {
    version: 0,
    destinations: {
      dead: { failures: 7, slowUntil: NOW + 60_000, openUntil: NOW + 30_000, opened: 1 },
      slow: { failures: 0, slowUntil: NOW },
    },
    slots: [{ destination: 'slow', token: token('t'), until: NOW + 15_000 }],
  };
  // The tests change one row, in their order.
  beforeAll(async () => {
    expect(await shares().read('now')).toEqual(NEW_SHARE);
  });

  it('is created once', async () => {
    expect([await shares().write(share), await shares().write(share)]).toEqual([true, false]);
    expect(await shares().read('now')).toEqual({ ...share, version: 1 });
    expect(await shares().read('eventually')).toMatchObject({ version: expect.any(Number) });
  });

  it('is replaced only by a writer that read its current version', async () => {
    const seen = await shares().read('now');
    const next = { ...seen, destinations: {}, slots: [] };
    const written = await Promise.all([shares().write(next), shares().write(next)]);
    expect(written.filter((each) => each)).toHaveLength(1);
    expect(await shares().read('now')).toEqual({ ...NEW_SHARE, version: seen.version + 1 });
    expect(await shares().write({ ...next, version: seen.version - 1 })).toBe(false);
  });
});
