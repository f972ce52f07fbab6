import { describe, expect, it } from 'vitest';
import {
  afterCalls,
  CALLBACKS_AT_ONCE,
  COOL_DOWN,
  healthOf,
  markedSlow,
  NEW_SHARE,
  OPEN_AFTER,
  phaseOf,
  type Share,
  SLOTS,
  SLOW_FOR,
  withSlot,
} from '../../src/domain/callbacks/share.ts';
import { CALLBACK_RECEIVES, MAX_DELAY, RETENTION } from '../../src/domain/timings.ts';
import { type Because, delayOf } from '../../src/steps/deliver/deliver-to.ts';
import { NOW, token } from '../factories/factories.ts';

const TIMEOUT = 10_000;
const take = (share: Share, name: string, by: string, now = NOW): Share | undefined =>
  withSlot(share, { name, token: token(by), timeout: TIMEOUT }, now);
const must = (share: Share | undefined): Share => {
  if (!share) throw new Error('no slot');
  return share;
};
const calls = { answered: false, failures: 0, wasSlow: false, isProbe: false };
const ended = (share: Share, of: Partial<typeof calls>, now = NOW, by = 'a'): Share =>
  afterCalls(share, { name: 'dead', token: token(by) }, { ...calls, ...of }, now);

/** A share whose circuit may be probed. */
const probing = (): Share => ({
  ...NEW_SHARE,
  destinations: { dead: { failures: OPEN_AFTER, openUntil: NOW - 1, opened: 1 } },
});

describe('slots of a destination', () => {
  it('are taken once by an invocation, although its first answer was lost', () => {
    for (const share of [must(take(NEW_SHARE, 'dead', 'a')), must(take(probing(), 'dead', 'a'))])
      expect(take(share, 'dead', 'a')).toBe(share);
  });

  it('are few, and leave invocations free with many slow destinations', () => {
    let share = NEW_SHARE;
    const taken: string[] = [];
    for (const name of ['a', 'b', 'c', 'd'])
      for (let n = 0; n < CALLBACKS_AT_ONCE; n += 1) {
        const next = take(share, name, `${name}${n}`);
        if (next) taken.push(name);
        share = next ?? share;
      }
    expect(taken).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    expect(SLOTS.all).toBeLessThan(CALLBACKS_AT_ONCE);
  });

  it('of an invocation that died are free after their lease', () => {
    let share = NEW_SHARE;
    for (const by of ['a', 'b', 'c']) share = must(take(share, 'dead', by));
    expect(take(share, 'dead', 'd', NOW + TIMEOUT)).toBeUndefined();
    expect(take(share, 'dead', 'd', NOW + TIMEOUT + 5_000)?.slots).toHaveLength(1);
  });

  it('are released, and the destination is calm after a fast period', () => {
    const slow = ended(must(take(NEW_SHARE, 'dead', 'a')), { answered: true, wasSlow: true });
    expect([slow.slots, phaseOf(slow, 'dead', NOW + SLOW_FOR - 1)]).toEqual([[], 'slow']);
    expect(phaseOf(slow, 'dead', NOW + SLOW_FOR)).toBe('calm');
    expect(ended(slow, { answered: true, failures: 1 }, NOW + SLOW_FOR)).toEqual(slow);
  });

  it('mark the destination as slow even if none is free', () => {
    const marked = markedSlow(NEW_SHARE, 'dead', NOW);
    expect(phaseOf(marked, 'dead', NOW)).toBe('slow');
    expect(markedSlow(marked, 'dead', NOW + 1)).toBe(marked);
  });
});

describe('a calm destination', () => {
  it('that answers changes nothing, so that nothing is written', () => {
    expect(ended(NEW_SHARE, { answered: true })).toBe(NEW_SHARE);
  });

  it('may have the name of an Object property', () => {
    expect(healthOf(NEW_SHARE, 'constructor')).toEqual({ failures: 0 });
  });
});

describe('the circuit of a destination', () => {
  const open = ended(NEW_SHARE, { failures: OPEN_AFTER });

  it('opens after failures in a row, without an answer between them', () => {
    let share = NEW_SHARE;
    for (let n = 1; n < OPEN_AFTER; n += 1) share = ended(share, { failures: 1 });
    expect(phaseOf(share, 'dead', NOW)).toBe('calm');
    expect(phaseOf(ended(share, { failures: 1 }), 'dead', NOW)).toBe('down');
    const answered = ended(share, { failures: 1, answered: true });
    expect(healthOf(answered, 'dead').failures).toBe(0);
  });

  it('lets no call through while open, and then one probe', () => {
    expect(take(open, 'dead', 'a', NOW + COOL_DOWN.first - 1)).toBeUndefined();
    const now = NOW + COOL_DOWN.first;
    expect(phaseOf(open, 'dead', now)).toBe('probing');
    const probed = must(take(open, 'dead', 'a', now));
    expect(phaseOf(probed, 'dead', now)).toBe('down');
    // If the probing invocation dies, another one may probe.
    expect(phaseOf(probed, 'dead', now + TIMEOUT + 5_000)).toBe('probing');
  });

  it('opens for longer after each failed probe, up to a limit', () => {
    const spans: number[] = [];
    let share = open;
    for (let n = 0; n < 6; n += 1) {
      const now = healthOf(share, 'dead').openUntil ?? 0;
      share = ended(must(take(share, 'dead', 'a', now)), { failures: 1, isProbe: true }, now);
      spans.push((healthOf(share, 'dead').openUntil ?? 0) - now);
    }
    expect(spans.map((span) => span / 1_000)).toEqual([60, 120, 240, 300, 300, 300]);
  });

  it('does not stay open longer because of calls that began before', () => {
    const later = ended(open, { failures: 10 }, NOW + 5_000);
    expect(healthOf(later, 'dead').openUntil).toBe(healthOf(open, 'dead').openUntil);
  });

  it('closes after an answer', () => {
    const now = NOW + COOL_DOWN.first;
    const closed = ended(must(take(open, 'dead', 'a', now)), { answered: true, isProbe: true }, now);
    expect([phaseOf(closed, 'dead', now + SLOW_FOR), healthOf(closed, 'dead').failures]).toEqual(['calm', 0]);
  });
});

describe('an event that comes back', () => {
  const delays = (because: Because, chance: number, closed = 0) =>
    [1, 2, 3, 9, 10, 500].map((receives) => delayOf({ because, receives, closed }, chance));

  it('has growing, random delays', () => {
    expect(delays('failed', 0)).toEqual([1, 2, 4, 256, 450, 450]);
    expect(delays('failed', 1)).toEqual([2, 4, 8, 512, 900, 900]);
  });

  it('is soon retried without a slot, but waits for an open circuit', () => {
    expect(Math.max(...delays('no-slot', 1))).toBe(60);
    expect(delayOf({ because: 'circuit-open', receives: 1, closed: 299_001 }, 0)).toBe(315);
    expect(delayOf({ because: 'circuit-open', receives: 9, closed: 299_001 }, 1)).toBe(MAX_DELAY / 1_000);
  });

  it("reaches its receive limit before its queue's retention ends", () => {
    expect(CALLBACK_RECEIVES * MAX_DELAY).toBeLessThan(RETENTION);
  });
});
