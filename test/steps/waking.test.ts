/** Wakes many Targets at a steady pace, by one invocation after the other, and never by two at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import { parseElect, printElect, type ResumeMessage } from '../../src/domain/batches/messages.ts';
import type { Target } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { FIRST_STEP, PACE, wakeForFreeSlot, wakeInSteps } from '../../src/steps/slots/wake.ts';
import { aConfig, aPolicy, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from './step-kit.ts';

let kit: StepKit;
const SHIP = operationName('ship');
const elsewhere = (n: number): Target => target(`ship/depot=elsewhere-${n}`);
const waits = (n: number) => ({ target: elsewhere(n), at: NOW + n, fence: 1 });
const state = () => kit.operations.read(SHIP);
const waiting = () => kit.operations.waiting(SHIP, 9_999);
const woken = () => kit.sent.elect.map((each) => each.target);
const enqueue = (count: number, from = 0) =>
  Promise.all(Array.from({ length: count }, (_, n) => kit.operations.enqueue(SHIP, waits(from + n))));
const targets = (count: number) => Array.from({ length: count }, (_, n) => elsewhere(n));
const capped = (total: number | null, circuit: { failures: number; coolDown: number } | null = null): StepKit => ({
  ...kit,
  config: aConfig({ batch: aPolicy({ maxSize: 4 }), concurrency: { perTarget: null, total }, circuit }),
});
/** Handles a resume message as it comes from the queue. */
const resume = (message: Partial<ResumeMessage>, deps: StepKit = kit) =>
  electLeader(deps, parseElect(printElect({ kind: 'resume', operation: SHIP, resume: 'pause', ...message })));
const sentOn = () => kit.sent.resume.map(({ delay: _, ...message }) => message);

describe('the wake step', () => {
  beforeEach(() => {
    kit = stepKit(memoryStores());
  });

  it('wakes up to fifty Targets at once, and sends a message for more', async () => {
    await enqueue(50);
    await wakeForFreeSlot(kit, SHIP);
    expect([woken(), await waiting(), kit.sent.resume]).toEqual([targets(50), [], []]);
    kit.sent.elect.length = 0;
    await enqueue(51);
    await wakeForFreeSlot(kit, SHIP);
    expect([woken(), kit.sent.resume]).toEqual([
      [],
      [{ kind: 'resume', operation: 'ship', resume: expect.any(String), delay: 0 }],
    ]);
  });

  it('wakes some hundred a second, the oldest first; then a message goes on', async () => {
    await enqueue(6 * PACE);
    const left: number[] = [];
    const at: number[] = [];
    const elect: StepKit['queues']['elect'] = async (messages) => {
      left.push((await waiting()).length);
      at.push(kit.now - NOW);
      await kit.queues.elect(messages);
    };
    const deps = { ...kit, queues: { ...kit.queues, elect } };
    await resume({}, deps);
    expect(left).toEqual(Array.from({ length: (5 * PACE) / 50 }, (_, n) => 6 * PACE - 50 * n));
    expect(at).toEqual([0, 1, 2, 3, 4].flatMap((second) => Array<number>(PACE / 50).fill(1_000 * second)));
    expect(kit.now).toBe(NOW + 5_000);
    const { waking } = await state();
    expect(sentOn()).toEqual([{ kind: 'resume', operation: 'ship', resume: 'pause', waking: { id: waking?.id } }]);
    await resume(sentOn()[0] ?? {}, deps);
    expect(woken()).toEqual(targets(6 * PACE));
    expect([await waiting(), (await state()).waking, kit.sent.resume.length]).toEqual([[], undefined, 1]);
  });

  it('goes on for as many Targets as slots are free', async () => {
    await enqueue(6 * PACE);
    const total = 5 * PACE + 60;
    await resume({}, capped(total));
    expect([woken().length, sentOn()[0]?.waking?.left]).toEqual([5 * PACE, 60]);
    // Only some of the woken Targets have taken their slots.
    for (let n = 0; n < 8; n += 1) await kit.operations.takeSlot(SHIP, slotOf(elsewhere(n), 1, 1), 10);
    const first = sentOn()[0] ?? {};
    kit.sent.resume.length = 0;
    await resume(first, capped(total));
    expect(woken().length).toBe(5 * PACE + 60);
  });

  it('waits a second before it counts free slots again', async () => {
    await enqueue(1_000);
    await resume({}, capped(100));
    expect([woken().length, kit.sent.resume.length]).toEqual([100, 1]);
    expect(kit.now).toBe(NOW + 1_000);
  });

  it('leaves the work to one message; a second or repeated one wakes no Target', async () => {
    await enqueue(6 * PACE);
    await resume({});
    const before = woken().length;
    kit.now += 9_000 - 1_000;
    await resume({});
    await resume({ waking: { id: 'an earlier one' } });
    expect([woken().length, kit.sent.resume.length]).toEqual([before, 1]);
  });

  it('takes over ten seconds after the last mark of another invocation', async () => {
    await enqueue(6 * PACE);
    await resume({});
    const { at = 0 } = (await state()).waking ?? {};
    kit.now = at + 9_999;
    await resume({});
    expect(woken()).toHaveLength(5 * PACE);
    kit.now = at + 10_000;
    await resume({});
    expect(woken()).toHaveLength(6 * PACE);
  });

  it('runs in one of two concurrent invocations', async () => {
    await enqueue(60);
    const read: StepKit['operations']['read'] = async (operation) => {
      const seen = await kit.operations.read(operation);
      if (!seen.waking) await kit.operations.markWaking(SHIP, undefined, { id: 'another', at: kit.now });
      return seen;
    };
    await resume({ waking: { id: 'mine' } }, { ...kit, operations: { ...kit.operations, read } });
    expect([woken(), (await state()).waking?.id]).toEqual([[], 'another']);
  });

  it('ends with a pause, and checks for newly queued Targets at its end', async () => {
    await enqueue(6 * PACE);
    await resume({});
    await kit.operations.pause(SHIP, { id: 'next', by: 'person', since: NOW });
    const before = woken().length;
    await resume(sentOn()[0] ?? {});
    expect([woken().length, (await state()).waking, kit.sent.resume.length]).toEqual([before, undefined, 1]);
    await kit.operations.resume(SHIP, 'next', NOW);
    // Another message woke no Target just before the end.
    const markWaking: StepKit['operations']['markWaking'] = async (operation, seen, next) => {
      if (!next) await enqueue(2, 9_000);
      return kit.operations.markWaking(operation, seen, next);
    };
    await resume({}, { ...kit, operations: { ...kit.operations, markWaking } });
    expect([woken().slice(-2), await waiting()]).toEqual([[elsewhere(9_000), elsewhere(9_001)], []]);
  });

  it('wakes the most promising Targets first, in steps, once a test has succeeded', async () => {
    await enqueue(60);
    const worked = { target: target('ship/depot=worked'), at: NOW, fence: 1, workedAt: NOW };
    await kit.operations.enqueue(SHIP, worked);
    await kit.operations.enqueue(SHIP, { ...waits(99), failedAt: NOW });
    await wakeInSteps(kit, SHIP, FIRST_STEP);
    // Of Targets of which nothing is known, the newest and the oldest take turns.
    expect(woken()).toEqual([worked.target, ...[59, 0, 58, 1].map(elsewhere)]);
    for (const step of [10, 20, 40]) {
      expect(sentOn().at(-1)).toMatchObject({ kind: 'resume', step });
      const before = woken().length;
      await resume(sentOn().at(-1) ?? {});
      expect(woken().length - before).toBe(Math.min(step, 62 - before));
    }
    expect([woken().at(-1), await waiting()]).toEqual([elsewhere(99), []]);
  });

  it('wakes no more Targets in steps while the circuit is open or no slot is free', async () => {
    await enqueue(9);
    await kit.operations.pause(SHIP, { id: 'again', by: 'circuit', since: NOW, until: NOW + 9 });
    await wakeInSteps(kit, SHIP, FIRST_STEP);
    expect([woken(), kit.sent.resume]).toEqual([[], []]);
    await kit.operations.resume(SHIP, 'again', NOW);
    await wakeInSteps(capped(2), SHIP, FIRST_STEP);
    expect(woken()).toEqual([elsewhere(8), elsewhere(0)]);
  });

  it('wakes one Target while a circuit is half-open, though many wait', async () => {
    await enqueue(60);
    await kit.operations.addFailure(SHIP, 2);
    await resume({}, capped(null, { failures: 2, coolDown: 1_000 }));
    expect([woken().length, kit.sent.resume]).toEqual([1, []]);
  });

  const opened = async (failures: number) => {
    await enqueue(60);
    await kit.operations.addFailure(SHIP, failures);
    await kit.operations.pause(SHIP, { id: 'circuit-1', by: 'circuit', since: NOW, until: NOW });
    return capped(null, { failures: 2, coolDown: 10_000 });
  };

  it('wakes one Target for the test, though several functions opened the circuit', async () => {
    const deps = await opened(2);
    for (const each of ['circuit-2', 'circuit-1', 'circuit-3']) await resume({ resume: each }, deps);
    expect(woken()).toHaveLength(1);
    // The test took too long, or its message was lost.
    kit.now += 5_000;
    await resume({ resume: 'circuit-3' }, deps);
    expect(woken()).toHaveLength(2);
  });

  it.each([
    ['the response to its write was lost', async () => false],
    [
      'its function crashes, and the message comes again',
      async () => {
        throw new Error('crashed');
      },
    ],
  ])('wakes a Target for the test though %s', async (_, result) => {
    const deps = await opened(2);
    const ends: StepKit['operations']['resume'] = async (...pause) => {
      await kit.operations.resume(...pause);
      return result();
    };
    await resume({ resume: 'circuit-1' }, { ...deps, operations: { ...kit.operations, resume: ends } }).catch(
      async () => resume({ resume: 'circuit-1' }, deps),
    );
    expect(woken()).toHaveLength(1);
  });

  it('wakes in steps after a pause of a circuit that an earlier call has closed', async () => {
    const deps = await opened(0);
    for (const each of ['circuit-1', 'circuit-2', 'circuit-3']) await resume({ resume: each }, deps);
    expect([woken().length, sentOn()]).toMatchObject([FIRST_STEP, [{ step: 2 * FIRST_STEP }]]);
  });
});
