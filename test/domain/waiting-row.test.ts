import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WaitingTask, waitingRow } from '../../src/domain/batches/policy.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { aTask, candidate, id, NOW } from '../factories/factories.ts';

const stored = (fields: Partial<Task> = {}): Task => {
  const { payload: _, ...task } = aTask();
  return { ...task, run: 1, payloadApart: false, state: { status: 'created' }, ...fields };
};

const tasks = fc
  .record(
    {
      id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,20}$/).map(id),
      run: fc.integer({ min: 1, max: 99 }),
      createdAt: fc.integer({ min: 0, max: 2 * NOW }),
      redrivenAt: fc.integer({ min: 0, max: 2 * NOW }),
      bytes: fc.nat(),
      ahead: fc.integer({ min: 0, max: 63 * 86_400_000 }),
      weight: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      coalesceKey: fc.string({ minLength: 1, maxLength: 128 }),
      startBy: fc.integer({ min: 0, max: 2 * NOW }),
    },
    { requiredKeys: ['id', 'run', 'createdAt', 'bytes'] },
  )
  .map((fields): WaitingTask => fields);

describe('the waiting row of a task', () => {
  it('depends only on the stored fields of the wait', () => {
    fc.assert(
      fc.property(tasks, fc.boolean(), (task, isApart) => {
        const ended = { status: 'failed', error: { code: 'c', message: '', retriable: true } } as const;
        const state = { ...ended, attempts: 1, finishedAt: 2 };
        // Other fields of the task.
        const more = stored({ payloadApart: isApart, state, priority: 7, correlationId: 'c', callback: 'ops' });
        expect(waitingRow({ ...more, ...task })).toEqual(waitingRow(task));
      }),
    );
  });

  it('has a key of 13 digits, id and run, which sorts by due order', () => {
    fc.assert(
      fc.property(tasks, tasks, (one, other) => {
        const rows = [waitingRow(one), waitingRow(other)] as const;
        for (const { entry } of rows) expect(entry).toMatch(/^\d{13}#/);
        expect(rows[0].entry.slice(14)).toBe(candidate(one.id, one.run));
        const turns = [one, other].map(({ createdAt, redrivenAt, ahead = 0 }) =>
          Math.max(0, (redrivenAt ?? createdAt) - ahead),
        ) as [number, number];
        if (turns[0] !== turns[1]) expect(rows[0].entry < rows[1].entry).toBe(turns[0] < turns[1]);
      }),
    );
  });

  it('waits since the registration or redrive, whatever its priority', () => {
    expect(waitingRow(stored({ ahead: 9_000 }))).toMatchObject({ entry: `${NOW - 9_000}#task-1#1`, at: NOW });
    const redriven = stored({ ahead: 9_000, run: 2, redrivenAt: NOW + 60_000 });
    expect(waitingRow(redriven)).toMatchObject({ entry: `${NOW + 51_000}#task-1#2`, at: NOW + 60_000 });
    expect(waitingRow(stored({ ahead: 2 * NOW })).entry).toBe('0000000000000#task-1#1');
  });

  it('has weight 1, no key and no expiry by default', () => {
    expect(waitingRow(stored())).toEqual({
      entry: `${NOW}#task-1#1`,
      candidate: candidate('task-1'),
      at: NOW,
      bytes: stored().bytes,
      weight: 1,
    });
    expect(waitingRow(stored({ weight: 0.5, coalesceKey: 'k', startBy: 7 }))).toMatchObject({
      weight: 0.5,
      key: 'k',
      startBy: 7,
    });
  });
});
