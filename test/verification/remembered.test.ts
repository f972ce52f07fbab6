import { describe, expect, it } from 'vitest';
import { memoryLocks } from '../../src/memory/locks.ts';
import { MAX_LAG, Remembered } from '../../src/memory/remembered.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { memoryTasks } from '../../src/memory/tasks.ts';
import { memoryWaiting } from '../../src/memory/waiting.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { seeded } from '../../src/virtual/random.ts';
import { aTask, batchId, candidate, id, target, token } from '../factories/factories.ts';

describe('a table with a memory', () => {
  it('shows its state at any moment of the last seconds', () => {
    const random = seeded(1);
    let now = 0;
    const table = new Remembered<number, number>(() => now);
    const seen: { at: number; rows: Map<number, number> }[] = [{ at: 0, rows: new Map() }];
    for (let change = 0; change < 500; change += 1) {
      now += random.int(0, 200);
      if (random.chance(0.3)) table.delete(random.int(0, 9));
      else table.set(random.int(0, 9), change);
      seen.push({ at: now, rows: new Map(table) });
      const lag = random.int(0, MAX_LAG);
      const then = seen.findLast(({ at }) => at <= now - lag)?.rows ?? new Map();
      expect([...table.before(lag)].toSorted()).toEqual([...then].toSorted());
      const key = random.int(0, 9);
      expect(table.rowBefore(key, lag)).toBe(then.get(key));
    }
  });
});

describe('an eventually consistent read', () => {
  it('shows an earlier state than a strongly consistent one', async () => {
    let now = 10_000;
    const tables = emptyTables(() => new Remembered(() => now));
    const lag = () => 1_000;
    const [locks, waiting] = [memoryLocks(tables, openGate, lag), memoryWaiting(tables, openGate, lag)];
    const where = target('ship/depot=A');
    await locks.acquire(where, { fence: 1, token: token('a'), seen: { fence: 0 }, now, until: now + 1 });
    await waiting.put([{ ...aTask({ id: id('t') }), target: where, run: 1 }]);
    expect(await locks.readEventually(where)).toEqual({ lock: { fence: 0, round: 0, lockedUntil: 0 } });
    expect([await waiting.count(where, 9), (await waiting.page(where, 9)).items]).toEqual([0, []]);
    expect([(await locks.read(where)).fence, (await waiting.first(where, 9)).length]).toEqual([1, 1]);
    now += 1_000;
    expect(await locks.readEventually(where)).toMatchObject({ lock: { fence: 1 }, first: { candidate: 't#1' } });
    expect([await waiting.count(where, 9), (await waiting.page(where, 9)).items.length]).toEqual([1, 1]);
  });

  it('of members shows neither recent claims nor recent ends', async () => {
    let now = 10_000;
    const tables = emptyTables(() => new Remembered(() => now));
    const tasks = memoryTasks(tables, openGate, () => 1_000);
    const [first, second, batch] = [id('a'), id('b'), batchId('ship/depot=A#1#1')];
    const readBefore = async () => (await tasks.readEventually([first, second], batch)).map((task) => task.id);
    await tasks.insert([aTask({ id: first }), aTask({ id: second })]);
    await tasks.claim([candidate(first)], batch);
    now += 1_000;
    await tasks.claim([candidate(second)], batch);
    expect(await readBefore()).toEqual([first]);
    await tasks.finish([{ id: first, outcome: { status: 'succeeded' } }], {
      id: batch,
      target: target('ship/depot=A'),
      attempts: 1,
      at: now,
      keep: 1,
    });
    now += 999;
    expect(await readBefore()).toEqual([first]);
    now += 1;
    expect(await readBefore()).toEqual([second]);
    expect((await tasks.members([first, second], batch)).open.map((task) => task.id)).toEqual([second]);
  });
});
