import { expect, it } from 'vitest';
import { NOW, target } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const KEEP = 60_000;

describeEach('processed keys', storeKinds, (stores) => {
  const known = async (where: ReturnType<typeof target>, keys: readonly string[], now = NOW) =>
    Object.fromEntries([...(await stores().processed.known(where, keys, now))].map(([key, { marks }]) => [key, marks]));
  const remember = (where: ReturnType<typeof target>, marks: Record<string, string[]>, at = NOW) =>
    stores().processed.remember(
      where,
      Object.entries(marks).map(([key, each]) => ({ key, marks: each })),
      at,
      KEEP,
    );

  it('are remembered for each Target', async () => {
    const [{ target: here }, { target: elsewhere }] = [fresh(), fresh()];
    await remember(here, { '"a"': ['f1'], 7: ['f2', 'f3'] });
    expect(await known(here, ['"a"', '7', '"7"', '"b"'])).toEqual({ '"a"': ['f1'], 7: ['f2', 'f3'] });
    expect(await known(elsewhere, ['"a"'])).toEqual({});
  });

  it('show the marks that were remembered last', async () => {
    const { target: here } = fresh();
    await remember(here, { '"a"': ['f1'] });
    for (const _ of ['once', 'again']) await remember(here, { '"a"': ['f2'] });
    expect(await known(here, ['"a"'])).toEqual({ '"a"': ['f2'] });
  });

  it('expire', async () => {
    const { target: here } = fresh();
    await remember(here, { '"a"': ['f1'] });
    expect(await known(here, ['"a"'], NOW + KEEP - 1)).toEqual({ '"a"': ['f1'] });
    expect(await known(here, ['"a"'], NOW + KEEP)).toEqual({});
    await remember(here, { '"a"': ['f1'] }, NOW + KEEP);
    expect(await known(here, ['"a"'], NOW + KEEP)).toEqual({ '"a"': ['f1'] });
  });

  it('show the age of the request that they were done for, if stored', async () => {
    const { target: here } = fresh();
    const done = [
      { key: '"a"', marks: ['f1'], age: { sentAt: NOW - 5, version: 3 } },
      { key: '"b"', marks: ['f2'], age: { sentAt: NOW } },
      { key: '"c"', marks: ['f3'] },
    ];
    await stores().processed.remember(here, done, NOW, KEEP);
    const keys = done.map(({ key }) => key);
    expect(await stores().processed.known(here, keys, NOW)).toEqual(
      new Map(done.map(({ key, ...what }) => [key, what])),
    );
  });

  it('may be many, long, and of any characters', async () => {
    const { target: here } = fresh();
    const keys = Array.from({ length: 230 }, (_, n) => JSON.stringify(`${n}/${'ä#"\\\u0000💡'.repeat(n)}`));
    await remember(here, Object.fromEntries(keys.map((key) => [key, [key.slice(0, 5)]])));
    expect(await known(here, keys)).toEqual(Object.fromEntries(keys.map((key) => [key, [key.slice(0, 5)]])));
  });

  it('are neither Targets nor waiting rows', async () => {
    const { target: here } = fresh();
    await remember(here, { '"a"': ['f1'] });
    expect(await stores().waiting.first(here, 9)).toEqual([]);
    expect((await stores().locks.readEventually(target(`done:${here}`))).first).toBeUndefined();
  });
});
