import { describe, expect, it } from 'vitest';
import { guardStatusOf, isHeld, type Lock, NO_LOCK } from '../../src/domain/batches/lock.ts';
import { batchId, NOW, target, token } from '../factories/factories.ts';

const held: Lock = { fence: 5, round: 2, holder: token('mine'), lockedUntil: NOW + 1_000 };
const expired: Lock = { ...held, lockedUntil: NOW - 1 };
const { holder: _, ...released } = held;
const status = (lock: Lock, fence: number, name = 'mine', hint?: true) =>
  guardStatusOf(lock, { target: target('ship'), fence, token: token(name), ...(hint ? { hint } : {}) }, NOW).is;

describe('a lock', () => {
  it('is held up to and including the last moment of its lease', () => {
    expect(isHeld(held, NOW + 1_000)).toBe(true);
    expect(isHeld(held, NOW + 1_001)).toBe(false);
    expect(isHeld(NO_LOCK, NOW)).toBe(false);
  });
});

describe('a group message', () => {
  it('leads while the lock has its fence and token, even after the lease', () => {
    expect(status(held, 5)).toBe('leader');
    expect(status(expired, 5)).toBe('leader');
    expect(status({ ...held, openBatch: batchId('b') }, 5)).toBe('leader-with-open-batch');
  });

  it('is superseded by a later fence, or by another holder of its fence', () => {
    expect(status({ ...held, fence: 6 }, 5)).toBe('superseded');
    expect(status({ ...held, holder: token('other') }, 5)).toBe('superseded');
    expect(status({ ...expired, holder: token('other') }, 5)).toBe('superseded');
  });

  it('is early while the previous leader holds the lock', () => {
    expect(status(held, 6, 'next')).toBe('early');
  });

  it('is next when the previous leader is gone, also if fences were skipped', () => {
    expect(status(expired, 6, 'next')).toBe('next');
    expect(status(released, 6, 'next')).toBe('next');
    expect(status(NO_LOCK, 6, 'next')).toBe('next');
  });

  it("is foreign if its fence is higher than any leader's, even after a restore", () => {
    expect(status(released, 5 + 1_000_000_000)).toBe('next');
    expect(status(released, 6 + 1_000_000_000)).toBe('foreign');
    expect(status(held, Number.MAX_SAFE_INTEGER)).toBe('foreign');
    expect(status(NO_LOCK, Number.MAX_SAFE_INTEGER)).toBe('foreign');
    expect(status(held, -5)).toBe('superseded');
  });

  it('can find its lock released', () => {
    expect(status(released, 5)).toBe('released');
  });

  it('that is a hint affects only its own leader, or the lock released by it', () => {
    expect(status(held, 5, 'mine', true)).toBe('leader');
    expect(status(released, 5, 'mine', true)).toBe('released');
    expect(status(released, 6, 'next', true)).toBe('superseded');
    expect(status(expired, 6, 'next', true)).toBe('superseded');
    expect(status(held, 5, 'other', true)).toBe('superseded');
  });
});
