import { expect, it } from 'vitest';
import type { Target, TaskId } from '../../src/domain/ids.ts';
import { candidate, NOW, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

describeEach('waiting rows', storeKinds, (stores) => {
  const waitingTask = (taskId: TaskId, target: Target, createdAt: number) => ({
    id: taskId,
    run: 1,
    target,
    createdAt,
    bytes: 42,
  });

  it('are read in order, up to a limit', async () => {
    const { t, target } = fresh();
    const tasks = [3, 1, 2].map((n) => waitingTask(t(n), target, NOW + n));
    await stores().waiting.put(tasks);
    await stores().waiting.put(tasks);
    const rows = await stores().waiting.first(target, 10);
    expect(rows).toEqual(
      [1, 2, 3].map((n) => ({
        entry: `${NOW + n}#${t(n)}#1`,
        candidate: candidate(t(n)),
        at: NOW + n,
        bytes: 42,
        weight: 1,
      })),
    );
    expect(await stores().waiting.first(target, 2)).toEqual(rows.slice(0, 2));
    expect(await stores().waiting.count(target, 10)).toBe(3);
    expect(await stores().waiting.count(target, 2)).toBe(2);
  });

  it('are removed one by one, without effect on the lock or other Targets', async () => {
    const [one, other] = [fresh(), fresh()];
    await stores().waiting.put([
      waitingTask(one.t(1), one.target, NOW),
      waitingTask(one.t(2), one.target, NOW),
      waitingTask(other.t(1), other.target, NOW),
    ]);
    await stores().locks.acquire(one.target, {
      fence: 1,
      token: token('a'),
      seen: { fence: 0 },
      now: NOW,
      until: NOW + 10,
    });
    const [first] = await stores().waiting.first(one.target, 1);
    for (const _ of ['once', 'again']) await stores().waiting.remove(one.target, [first?.entry ?? '', 'no such entry']);
    expect(await stores().waiting.first(one.target, 10)).toHaveLength(1);
    expect(await stores().waiting.first(other.target, 10)).toHaveLength(1);
    expect((await stores().locks.read(one.target)).fence).toBe(1);
  });

  it('exist or not, by entry and Target', async () => {
    const [one, other] = [fresh(), fresh()];
    await stores().waiting.put([waitingTask(one.t(1), one.target, NOW)]);
    const [row] = await stores().waiting.first(one.target, 1);
    const has = (target: typeof one.target, entry = row?.entry ?? '') => stores().waiting.has(target, entry);
    expect([await has(one.target), await has(other.target), await has(one.target, `${NOW}#none#1`)]).toEqual([
      true,
      false,
      false,
    ]);
    await stores().waiting.remove(one.target, [row?.entry ?? '']);
    expect(await has(one.target)).toBe(false);
  });

  it('are written, read and removed by the hundreds', async () => {
    const { t, target } = fresh();
    const tasks = Array.from({ length: 310 }, (_, n) => waitingTask(t(n), target, NOW + n));
    await stores().waiting.put(tasks);
    const rows = await stores().waiting.first(target, 1_000);
    expect(rows.map(({ at }) => at)).toEqual(tasks.map(({ createdAt }) => createdAt));
    await stores().waiting.remove(
      target,
      rows.slice(0, 300).map(({ entry }) => entry),
    );
    expect(await stores().waiting.count(target, 1_000)).toBe(10);
  });
});
