/** Payloads of tasks, in their row or in a row of their own. */
import { expect, it } from 'vitest';
import { aTask, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';
import { LARGE, storing } from './task-kit.ts';

describeEach('tasks', storeKinds, (stores) => {
  const stored = storing(stores);

  it('keep their payload exactly, small or large', async () => {
    const { t, batch } = fresh();
    const payloads = ['{ "n":12345678901234567890, "s":"ü\\u00fc\\"" }', `{"s":"${'x'.repeat(3_000)}"}`, LARGE];
    const tasks = payloads.map((payload, n) => aTask({ id: t(n), payload }));
    await stored(...tasks);
    await stores().tasks.claim(
      tasks.map((task) => candidate(task.id)),
      batch,
    );
    const { open, lost } = await stores().tasks.members(
      tasks.map((task) => task.id),
      batch,
    );
    expect(lost).toEqual([]);
    for (const [n, payload] of payloads.entries()) {
      expect((await stores().tasks.payload(t(n))) === payload, `payload ${n}`).toBe(true);
      expect(open[n]?.payload === payload, `payload ${n} of the batch`).toBe(true);
    }
  });

  it('have their payload apart if their stored row says so', async () => {
    const { t } = fresh();
    // Small enough for the row, but not with the correlation id of the first message.
    const payload = `{"s":"${'x'.repeat(540)}"}`;
    const [first] = await stores().tasks.insert([aTask({ id: t(1), payload, correlationId: 'c'.repeat(128) })]);
    const [again] = await stores().tasks.insert([aTask({ id: t(1), payload })]);
    const [other] = await stores().tasks.insert([aTask({ id: t(2), payload: '{}' })]);
    expect([first?.stored.payloadApart, again?.stored.payloadApart, other?.stored.payloadApart]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('without a stored payload are reported as lost, beside the others', async () => {
    const { t, batch } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), payload: LARGE })]);
    await stored(aTask({ id: t(2) }));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    const { open, lost } = await stores().tasks.members([t(1), t(2)], batch);
    const age = { id: t(1), sentAt: NOW };
    expect([open.map((each) => each.id), lost]).toEqual([[t(2)], [{ id: t(1), age }]]);
  });

  it('keep their own payload if their id had another one before', async () => {
    const { t } = fresh();
    const monday = aTask({ id: t(1), payload: LARGE });
    const tuesday = aTask({ id: t(1), payload: LARGE.replace('ü', 'ö') });
    // Monday's task has expired, but its payload row has not.
    await stores().tasks.storePayloads([{ ...monday, run: 1 }]);
    await stored(tuesday);
    expect((await stores().tasks.payload(t(1))) === tuesday.payload).toBe(true);
  });

  it('keep a payload for their own time if an earlier task had it', async () => {
    const { t, batch, target } = fresh();
    const earlier = aTask({ id: t(1), target, payload: LARGE });
    const task = { ...earlier, createdAt: earlier.createdAt + 3_600_001 };
    await stored(earlier);
    await stores().tasks.claim([candidate(t(1))], batch);
    const { payloadHash } = earlier;
    const ends = { id: batch, target, attempts: 1, at: NOW, keep: 3_600_000 };
    const result = { id: t(1), outcome: { status: 'succeeded' }, payloadRow: { payloadHash, run: 1 } } as const;
    await stores().tasks.finish([result], ends);
    expect(await stores().payloadExpires(earlier)).toBe(true);
    await stores().tasks.storePayloads([{ ...earlier, run: 1 }]);
    expect(await stores().payloadExpires(earlier)).toBe(true);
    // A later task of the same id and payload.
    await stores().tasks.storePayloads([{ ...task, run: 1 }]);
    expect(await stores().payloadExpires(task)).toBe(false);
  });
});
