/** The audit trail: newest entries first, across months, by day, until they expire. */
import { expect, it } from 'vitest';
import type { Entry } from '../../src/domain/audit/entry.ts';
import { InvalidCursor } from '../../src/ports/rows.ts';
import { describeEach } from './describe-each.ts';
import { KEEP_AUDIT, storeKinds } from './stores.ts';

const DAY = 86_400_000;
/** A time of its own for each test, so that no test sees the entries of another. */
let turn = 0;
const somewhen = (): number => Date.UTC(2030 + turn++, 5, 15, 12);

const entry = (at: number, id: string, more: Partial<Entry> = {}): Entry => ({
  at,
  id,
  action: 'pause',
  subject: { operation: 'ship' },
  actor: { id: 'AROAEXAMPLE' },
  ...more,
});

describeEach('the audit trail', storeKinds, (stores) => {
  const add = async (...entries: readonly Entry[]): Promise<void> => {
    for (const each of entries) await stores().audit.begin(each);
  };
  /** The ids on all pages. */
  const idsOf = async (now: number, limit: number, day?: string): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let cursor: string | undefined, isLast = false; !isLast; isLast = cursor === undefined) {
      const page = await stores().audit.page({ now, limit, day, cursor });
      pages.push(page.items.map(({ id }) => id));
      ({ cursor } = page);
    }
    return pages;
  };

  it('keeps an entry exactly, without an outcome until the action has ended', async () => {
    const at = somewhen();
    const whole = entry(at, 'whole', {
      subject: { operation: 'ship', target: 'ship/depot=M%C3%9CC', tasks: 'a, b and 7 more' },
      actor: { id: 'AROA', name: 'ops', arn: 'arn:aws:sts::1:assumed-role/ops/me', from: '192.0.2.1', userAgent: 'x' },
      reason: 'the depot moves 🚚',
    });
    await add(whole);
    const read = async () => (await stores().audit.page({ now: at, limit: 10 })).items[0];
    expect(await read()).toEqual(whole);
    await stores().audit.end(whole, 202);
    expect(await read()).toEqual({ ...whole, status: 202 });
  });

  it('does not complete an entry that does not exist', async () => {
    const at = somewhen();
    await stores().audit.end({ at, id: 'gone' }, 200);
    expect(await stores().audit.page({ now: at, limit: 10 })).toEqual({ items: [] });
  });

  it('lists the newest entries first, over the ends of months and years, page by page', async () => {
    const now = Date.UTC(2031 + turn++, 0, 10, 12);
    await add(...[0, 1, 5, 40, 41, 75].map((days) => entry(now - days * DAY, `${days} days ago`)));
    await add(entry(now, 'also now'));
    const all = ['also now', '0 days ago', '1 days ago', '5 days ago', '40 days ago', '41 days ago', '75 days ago'];
    expect(await idsOf(now, 100)).toEqual([all]);
    expect(await idsOf(now, 3)).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6)]);
    expect(await idsOf(now, 7)).toEqual([all]);
  });

  it('lists all entries of a month that has more than the 1 MB that DynamoDB reads at once', async () => {
    const now = somewhen();
    const ids = Array.from({ length: 30 }, (_, n) => `${n} ago`);
    const subject = { target: 'x'.repeat(100_000) };
    await add(...ids.map((id, n) => entry(now - n, id, { subject })));
    expect(await idsOf(now, 100)).toEqual([ids]);
    expect(await idsOf(now, 25)).toEqual([ids.slice(0, 25), ids.slice(25)]);
  });

  it('lists the entries of a day in UTC', async () => {
    const noon = somewhen();
    const midnight = noon - DAY / 2;
    await add(entry(midnight - 1, 'before'), entry(midnight, 'first'), entry(noon, 'second'));
    await add(entry(midnight + DAY - 1, 'last'), entry(midnight + DAY, 'after'));
    const day = new Date(noon).toISOString().slice(0, 10);
    expect(await idsOf(noon + DAY, 2, day)).toEqual([['last', 'second'], ['first']]);
    expect(await idsOf(noon + DAY, 10, '2029-01-01')).toEqual([[]]);
  });

  it('leaves out entries that have expired', async () => {
    const now = somewhen();
    await add(entry(now - KEEP_AUDIT, 'expired'), entry(now - KEEP_AUDIT + 1, 'kept'));
    expect(await idsOf(now, 10)).toEqual([['kept']]);
    const day = new Date(now - KEEP_AUDIT).toISOString().slice(0, 10);
    expect(await idsOf(now, 10, day)).toEqual([['kept']]);
  });

  it('refuses a cursor that comes from no page, or from a page of another day', async () => {
    const now = somewhen();
    await add(entry(now, 'one'), entry(now - 1, 'two'));
    const { cursor } = await stores().audit.page({ now, limit: 1 });
    const page = (asked: object) => stores().audit.page({ now, limit: 1, ...asked });
    expect((await page({ cursor })).items).toHaveLength(1);
    const later = Buffer.from('{"Month":"9999-99","Entry":"9999-99-1#a"}').toString('base64url');
    for (const odd of ['x', '', Buffer.from('{}').toString('base64url'), later])
      await expect(page({ cursor: odd })).rejects.toThrow(InvalidCursor);
    await expect(page({ cursor, day: new Date(now - 3 * DAY).toISOString().slice(0, 10) })).rejects.toThrow(
      InvalidCursor,
    );
  });
});
