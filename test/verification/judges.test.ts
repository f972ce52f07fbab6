/**
 * The judge must not use the code that it checks. Each test makes one pure function of the product wrong. A judge that
 * called it would find no fault.
 */
import { describe, expect, it, vi } from 'vitest';
import type { ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { BATCHES } from '../../verification/batches/kind.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';

const wrong = vi.hoisted(() => ({ about: '' }));

vi.mock('../../src/domain/batches/batch.ts', async (original) => {
  const batch = await original<typeof import('../../src/domain/batches/batch.ts')>();
  const finishedStatus: typeof batch.finishedStatus = (counts) => {
    const status = batch.finishedStatus(counts);
    return wrong.about === 'status' && status === 'partly-failed' ? 'succeeded' : status;
  };
  return { ...batch, finishedStatus };
});

vi.mock('../../src/domain/tasks/task.ts', async (original) => {
  const task = await original<typeof import('../../src/domain/tasks/task.ts')>();
  const itemBytes: typeof task.itemBytes = (...item) => task.itemBytes(...item) / (wrong.about === 'bytes' ? 3 : 1);
  return { ...task, itemBytes };
});

vi.mock('../../src/domain/downstream/verdict.ts', async (original) => {
  const verdict = await original<typeof import('../../src/domain/downstream/verdict.ts')>();
  /** Tasks without a result count as succeeded. */
  const verdictOf: typeof verdict.verdictOf = (answer, items) => {
    if (wrong.about !== 'verdict' || answer.kind !== 'results') return verdict.verdictOf(answer, items);
    const answers = new Map<TaskId, ItemAnswer>(items.map(({ id }) => [id, { status: 'succeeded' }]));
    for (const [id, item] of answer.items) answers.set(id, item);
    return verdict.verdictOf({ ...answer, items: answers }, items);
  };
  return { ...verdict, verdictOf };
});

vi.mock('../../src/domain/batches/policy.ts', async (original) => {
  const policy = await original<typeof import('../../src/domain/batches/policy.ts')>();
  /** A row says that its task waits from a time 60 s later. */
  const waitingRow: typeof policy.waitingRow = (task) => {
    const row = policy.waitingRow(task);
    return wrong.about === 'wait' ? { ...row, at: row.at + 60_000 } : row;
  };
  return { ...policy, waitingRow };
});

describe('the judge', () => {
  it.each([
    ['status', /status matches its counts/],
    ['bytes', /at most maxBytes/],
    ['verdict', /result is the downstream's answer/],
    ['wait', /when its oldest task began to wait|longer than maxWait/],
  ])('finds a wrong %s of a batch or task', async (about, promise) => {
    wrong.about = about;
    const { violations } = await runSchedules(BATCHES, 1, 300, undefined, ({ violation }) => !violation);
    expect(violations[0]?.message).toMatch(promise);
  });

  it('finds nothing in correct code', async () => {
    wrong.about = '';
    expect((await runSchedules(BATCHES, 1, 30)).violations).toEqual([]);
  });
});
