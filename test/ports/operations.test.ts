import { expect, it } from 'vitest';
import {
  type AnswerForm,
  NEW_OPERATION,
  type Pause,
  slotOf,
  type WaitingTarget,
} from '../../src/domain/operations/slots.ts';
import { NOW, operationName, target, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { storeKinds } from './stores.ts';

let made = 0;
const fresh = () => {
  made += 1;
  const name = operationName(`operation-${made}`);
  return { name, slot: (n: number) => slotOf(target(`${name}/depot=${n}`), 1, n) };
};

const aPause = (fields: Partial<Pause> = {}): Pause => ({ id: 'pause-1', by: 'person', since: NOW, ...fields });

describeEach('operation rows', storeKinds, (stores) => {
  const read = (name: ReturnType<typeof operationName>) => stores().operations.read(name);

  it('are empty if nothing was written', async () => {
    expect(await read(fresh().name)).toEqual(NEW_OPERATION);
  });

  it('give slots up to the cap; a repeated take succeeds', async () => {
    const { name, slot } = fresh();
    const take = (n: number) => stores().operations.takeSlot(name, slot(n), 2);
    expect([await take(1), await take(2), await take(3), await take(1)]).toEqual([true, true, false, true]);
    expect([...(await read(name)).inFlight].sort()).toEqual([slot(1), slot(2)]);
    for (const _ of ['once', 'again']) await stores().operations.freeSlot(name, slot(1));
    expect((await read(name)).inFlight).toEqual([slot(2)]);
    expect(await take(3)).toBe(true);
    for (const n of [2, 3]) await stores().operations.freeSlot(name, slot(n));
    expect((await read(name)).inFlight).toEqual([]);
    expect(await take(4)).toBe(true);
  });

  it('give a slot through the short path only with one page and no pause', async () => {
    const { name, slot } = fresh();
    const take = (n: number) => stores().operations.takeOnlyPage(name, slot(n), 2);
    expect([await take(1), await take(2), await take(3), await take(1)]).toEqual([true, true, false, true]);
    await stores().operations.freeSlot(name, slot(2));
    await stores().operations.pause(name, aPause());
    expect(await take(2)).toBe(false);
    await stores().operations.resume(name, 'pause-1', NOW);
    expect(await take(2)).toBe(true);
    await stores().operations.freeSlot(name, slot(2));
    await stores().operations.noteCap(name, 30);
    expect([await take(2), await take(1)]).toEqual([false, false]);
    expect(await stores().operations.takeSlot(name, slot(2), 2)).toBe(true);
    expect(await read(name)).toMatchObject({ largestCap: 30 });
  });

  it('keep the largest cap that needed further pages', async () => {
    const { name } = fresh();
    const caps: unknown[] = [];
    for (const cap of [20, 40, 30]) {
      await stores().operations.noteCap(name, cap);
      caps.push((await read(name)).largestCap);
    }
    expect(caps).toEqual([20, 40, 40]);
  });

  it('give no slot while paused', async () => {
    const { name, slot } = fresh();
    await stores().operations.pause(name, aPause());
    expect(await stores().operations.takeSlot(name, slot(1), 9)).toBe(false);
    expect(await stores().operations.resume(name, 'another', NOW)).toBe(false);
    expect(await stores().operations.resume(name, 'pause-1', NOW + 5)).toBe(true);
    expect(await read(name)).toMatchObject({ resumedAt: NOW + 5, resumedId: 'pause-1' });
    expect(await stores().operations.resume(name, 'pause-1', NOW)).toBe(false);
    expect(await stores().operations.takeSlot(name, slot(1), 9)).toBe(true);
  });

  it("let a person's pause replace any other, a circuit's only none", async () => {
    const { name } = fresh();
    const circuit = aPause({ id: 'circuit-1', by: 'circuit', until: NOW + 5, reason: 'answered 403' });
    expect(await stores().operations.pause(name, circuit)).toBe(true);
    expect((await read(name)).paused).toEqual(circuit);
    expect(await stores().operations.pause(name, { ...circuit, id: 'circuit-2' })).toBe(false);
    expect(await stores().operations.pause(name, aPause())).toBe(true);
    expect(await stores().operations.pause(name, aPause())).toBe(false);
    expect(await stores().operations.pause(name, circuit)).toBe(false);
    expect((await read(name)).paused).toEqual(aPause());
  });

  it('keep waiting Targets in order until they are dequeued', async () => {
    const { name } = fresh();
    const waiting = [3, 1, 2].map(
      (n): WaitingTarget => ({
        target: target(`${name}/depot=${n}`),
        at: NOW + n,
        fence: n,
        ...(n === 2 ? { failedAt: NOW, workedAt: 0, batches: 7 } : {}),
      }),
    );
    for (const _ of ['once', 'again']) for (const each of waiting) await stores().operations.enqueue(name, each);
    const first = await stores().operations.waiting(name, 2);
    expect(first).toEqual([waiting[1], waiting[2]]);
    expect(await stores().operations.waiting(name, 2, 'last')).toEqual([waiting[0], waiting[2]]);
    const [oldest] = first as [WaitingTarget];
    expect(await stores().operations.dequeue(name, oldest)).toBe(true);
    expect(await stores().operations.dequeue(name, oldest)).toBe(false);
    expect(await stores().operations.waiting(name, 9)).toEqual([waiting[2], waiting[0]]);
    expect(await read(name)).toEqual(NEW_OPERATION);
  });

  it('dequeue no Target that was queued again with the same key', async () => {
    const { name } = fresh();
    const { operations } = stores();
    const row: WaitingTarget = { target: target(`${name}/depot=1`), at: NOW, fence: 1 };
    const [first, second] = [token('first'), token('second')].map((by) => ({ ...row, by })) as [
      WaitingTarget,
      WaitingTarget,
    ];
    for (const each of [first, second]) await operations.enqueue(name, each);
    expect([await operations.dequeue(name, first), await operations.dequeue(name, row)]).toEqual([false, false]);
    expect([await operations.waiting(name, 9), await operations.isWaiting(name, first)]).toEqual([[second], true]);
    expect(await operations.dequeue(name, second)).toBe(true);
    await operations.enqueue(name, second);
    for (const isThere of [true, false]) expect(await operations.dequeue(name, first, 'any')).toBe(isThere);
    // Release 0.2.0 writes such a row.
    await operations.enqueue(name, row);
    expect([await operations.dequeue(name, second), await operations.dequeue(name, row)]).toEqual([false, true]);
  });

  it('count failures in a row', async () => {
    const { name } = fresh();
    const { operations } = stores();
    expect(await operations.addFailure(name)).toEqual({ failures: 1, recoveries: 0 });
    expect(await operations.addFailure(name)).toEqual({ failures: 2, recoveries: 0 });
    expect((await read(name)).failures).toBe(2);
    await operations.addFailure(name, 1, `503 ${'ä'.repeat(200)}`);
    const { lastFailure = '' } = await read(name);
    expect([lastFailure.slice(0, 6), Buffer.byteLength(lastFailure)]).toEqual(['503 ää', 200]);
    await operations.addFailure(name);
    expect((await read(name)).lastFailure).toBe(lastFailure);
    for (const _ of ['once', 'again']) await operations.resetFailures(name);
    expect(await read(name)).toMatchObject({ failures: 0, recoveries: 2 });
    expect((await read(name)).lastFailure).toBeUndefined();
    expect(await operations.addFailure(name)).toEqual({ failures: 1, recoveries: 2 });
  });

  it('keep the time of the first throttled call until one succeeds', async () => {
    const { name } = fresh();
    for (const at of [NOW, NOW + 9]) await stores().operations.markThrottled(name, at);
    await stores().operations.addFailure(name);
    expect(await read(name)).toEqual({ ...NEW_OPERATION, failures: 1, throttledSince: NOW });
    await stores().operations.resetFailures(name);
    expect(await read(name)).toEqual({ ...NEW_OPERATION, recoveries: 1 });
    await stores().operations.markThrottled(name, NOW + 20);
    expect((await read(name)).throttledSince).toBe(NOW + 20);
  });

  it('keep the form of the answers: once with results, for ever', async () => {
    const { name } = fresh();
    const note = (form: AnswerForm) => stores().operations.noteAnswers(name, form);
    expect(await read(name)).not.toHaveProperty('answers');
    expect([await note('without-results'), await note('without-results')]).toEqual([true, false]);
    await stores().operations.addFailure(name);
    await stores().operations.resetFailures(name);
    expect((await read(name)).answers).toBe('without-results');
    expect([await note('with-results'), await note('with-results'), await note('without-results')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await read(name)).answers).toBe('with-results');
    const { name: other } = fresh();
    expect([await stores().operations.noteAnswers(other, 'with-results'), (await read(other)).answers]).toEqual([
      true,
      'with-results',
    ]);
  });

  it('show the function that wakes Targets; another can take over', async () => {
    const { name } = fresh();
    const mark = (seen: string | undefined, id: string | undefined) =>
      stores().operations.markWaking(name, seen, id === undefined ? undefined : { id, at: NOW });
    expect([await mark(undefined, 'a'), await mark(undefined, 'b'), await mark('b', 'c')]).toEqual([
      true,
      false,
      false,
    ]);
    expect((await read(name)).waking).toEqual({ id: 'a', at: NOW });
    expect([await mark('a', 'b'), await mark('a', undefined)]).toEqual([true, false]);
    await stores().operations.addFailure(name);
    expect(await mark('b', undefined)).toBe(true);
    expect(await read(name)).toEqual({ ...NEW_OPERATION, failures: 1 });
    expect(await mark(undefined, 'd')).toBe(true);
  });

  it('are not listed as Targets', async () => {
    const { name, slot } = fresh();
    await stores().operations.takeSlot(name, slot(1), 1);
    expect((await stores().locks.targets(name, 9)).items).toEqual([]);
  });
});
