/** A cap of a Target that is raised above the size of a page, or lowered below it, while batches hold slots. */
import { beforeEach, expect, it } from 'vitest';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { takeOnPages } from '../../src/steps/slots/pages.ts';
import { takeTargetSlot } from '../../src/steps/slots/target-slots.ts';
import { NOW, token } from '../factories/factories.ts';
import { batch, capped, clean, SHIP, slot } from './capped.ts';
import type { StepKit } from './step-kit.ts';
import { guard, kit, led, lock, suite, where } from './step-suite.ts';

suite('a Target with a changed cap', () => {
  beforeEach(clean);
  const places = async () => (await kit.locks.slotPages(where, 12)).flatMap(({ slots }) => slots);
  const ends = (deps: StepKit, round: number, targetPage?: number) =>
    releaseSlots(deps, {
      id: batch(round),
      target: where,
      operation: SHIP,
      ...(targetPage === undefined ? {} : { targetPage }),
    });
  /** A full Target with waiting tasks and without a leader. */
  const fullInLock = async (cap: number) => {
    await led(4);
    for (let round = 1; round <= cap; round += 1) {
      await kit.locks.openBatch(where, guard(), {
        batch: batch(round),
        round,
        by: token('by'),
        until: kit.now,
        perTarget: cap,
      });
      await kit.locks.closeBatch(where, batch(round));
    }
    await kit.locks.release(where, guard());
    kit.sent.elect.length = 0;
  };

  it('from slots in the lock to pages is led when a batch ends', async () => {
    await fullInLock(10);
    await ends(capped({ perTarget: 11 }), 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    expect((await lock()).inFlight).not.toContain(batch(1));
  });

  it('is woken if its slot is already free after an earlier crash', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    const crash = async (): Promise<never> => {
      throw new Error('crash');
    };
    await expect(ends({ ...deps, waiting: { ...kit.waiting, first: crash } }, 1)).rejects.toThrow('crash');
    expect((await lock()).inFlight).not.toContain(batch(1));
    await ends(deps, 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
  });

  it('counts slots in its lock for certain, whatever pages show', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    await kit.locks.takeSlot(where, slot(11), 10, 1);
    const late = { ...deps, locks: { ...kit.locks, slotPagesEventually: async () => [] } };
    const layout = { cap: 11, size: 10, from: 1 };
    expect(await takeTargetSlot(late, where, await lock(), slot(12), layout)).toBeUndefined();
  });

  it('counts slots on all pages for certain while its lock has some', async () => {
    for (const n of [6, 7, 8, 9, 10]) await kit.locks.takeSlot(where, slot(n), 10, 1);
    for (const n of [11, 12]) await kit.locks.takeSlot(where, slot(n), 10, 2);
    const firstPageOnly = async () => (await kit.locks.slotPages(where, 12)).filter(({ page }) => page === 1);
    const late = { ...kit.locks, slotPagesEventually: firstPageOnly };
    const inLock = [1, 2, 3, 4, 5].map((round) => slot(round));
    const layout = { cap: 12, size: 10, from: 1 };
    const first = async () => ({ slots: inLock, capToRead: 12 });
    expect(await takeOnPages(late, where, slot(13), layout, first)).toBeUndefined();
  });

  it('is woken by a batch on a page that was not full', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    await kit.locks.takeSlot(where, slot(11), 10, 1);
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: kit.now, until: kit.now });
    await kit.locks.block(where, guard(2), { round: 10, at: NOW });
    await ends(deps, 11, 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 2 }]);
  });

  it.each([5, null])('from pages to %s frees slots and is woken when a batch ends', async (perTarget) => {
    await led(4);
    for (let n = 0; n < 11; n += 1) await kit.locks.takeSlot(where, slot(n + 1), 10, n < 10 ? 1 : 2);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    kit.sent.elect.length = 0;
    await ends(capped({ perTarget }), 1, 1);
    expect(await places()).toHaveLength(10);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
  });
});
