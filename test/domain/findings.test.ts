import { describe, expect, it } from 'vitest';
import type { Batch } from '../../src/domain/batches/batch.ts';
import { type Finding, findingOf, overdue } from '../../src/domain/batches/findings.ts';
import { type Lock, NO_LOCK } from '../../src/domain/batches/lock.ts';
import { GRACE } from '../../src/domain/timings.ts';
import { aRow, batchId, candidate, NOW, operationName, target, token } from '../factories/factories.ts';

const T = target('ship/depot=MUC');
const held: Lock = { fence: 3, round: 2, holder: token('leader'), lockedUntil: NOW };
const { holder: _, ...released } = held;
const open = { openBatch: batchId('ship/depot=MUC#3#2') };
const row = aRow({ at: NOW });
/** Long after the events at NOW. */
const later = NOW + GRACE;

describe('a finding about a Target', () => {
  const found = (lock: Lock, first?: typeof row, now = later): Finding | undefined =>
    findingOf(T, lock, first, now, GRACE);

  it('is a waiting task without a leader', () => {
    const stranded = { finding: 'stranded', target: T, since: NOW };
    expect(found(released, row)).toEqual(stranded);
    expect(found(NO_LOCK, row)).toEqual(stranded);
  });

  it('is a lock whose lease has ended, with or without waiting tasks', () => {
    const expired = { finding: 'expired-lock', target: T, since: NOW, holder: { fence: 3, token: 'leader' } };
    expect(found(held)).toEqual({ ...expired, hasWork: false });
    expect(found(held, row)).toEqual({ ...expired, hasWork: true });
  });

  it('is an open batch without a leader, with or without waiting tasks', () => {
    const leaderless = { finding: 'leaderless-batch', target: T, since: NOW, batchId: open.openBatch };
    for (const lock of [held, released])
      for (const first of [undefined, row]) expect(found({ ...lock, ...open }, first)).toEqual(leaderless);
  });

  it('is never about a Target that has a leader', () => {
    const leading = { ...held, lockedUntil: later };
    for (const lock of [leading, { ...leading, ...open }])
      for (const first of [undefined, row]) expect(found(lock, first)).toBeUndefined();
  });

  it('does not exist while a message may still be on its way', () => {
    for (const lock of [held, released, { ...held, ...open }])
      expect(found(lock, row, later - 1), JSON.stringify(lock)).toBeUndefined();
    expect(found(released)).toBeUndefined();
    expect(found(NO_LOCK)).toBeUndefined();
  });

  it('is not a lock for which a new task will soon bring a leader', () => {
    const late = aRow({ at: NOW + 1 });
    expect(found(held, late)).toBeUndefined();
    expect(found(held, late, later + 1)).toMatchObject({ finding: 'expired-lock', since: NOW + 1 });
  });
});

describe('an overdue batch', () => {
  const batch: Batch = {
    id: batchId('ship/depot=MUC#3#2'),
    target: T,
    operation: operationName('ship'),
    status: 'sealed',
    sealedBy: 'full',
    candidates: [candidate('a')],
    dropped: [],
    attempt: 0,
    countedAttempts: 0,
    runUntil: 0,
    oldestAt: NOW - 9,
    createdAt: NOW - 5,
    sealedAt: NOW,
  };
  const running: Batch = { ...batch, status: 'in-progress', attempt: 1, runUntil: NOW + 50 };

  it('was sealed but never started, or its next attempt was due long ago', () => {
    expect(overdue(batch, NOW + 100, 100)).toEqual({
      finding: 'overdue-batch',
      target: T,
      since: NOW,
      batchId: batch.id,
    });
    expect(overdue(running, NOW + 150, 100)).toMatchObject({ since: NOW + 50 });
  });

  it('is not in time, forming or finished', () => {
    expect(overdue(batch, NOW + 99, 100)).toBeUndefined();
    expect(overdue(running, NOW + 149, 100)).toBeUndefined();
    for (const status of ['forming', 'succeeded', 'partly-failed', 'failed'] as const)
      expect(overdue({ ...running, status }, NOW + 9_999, 100), status).toBeUndefined();
  });
});
