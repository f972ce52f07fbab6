import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import type { BatchId } from '../../src/domain/ids.ts';
import { bytesInString } from '../../src/util/json-text.ts';
import { aConfig, aTask, candidate, id, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

interface Answer {
  readonly groups: { readonly key: string; readonly cause: string; readonly tasks: number; readonly ids: string[] }[];
  readonly looked: number;
  readonly cursor?: string;
}

/** An API with failed tasks, each with a depot and an error message. */
const started = async (...failed: readonly (readonly [depot: string, message: string, operation?: string])[]) => {
  const parcels = { operation: operationName('parcels'), keys: ['depot'] };
  const kit = stepKit(memoryStores(), aConfig({}, parcels));
  for (const [n, [depot, message, operation = 'ship']] of failed.entries()) {
    const task = aTask({
      id: id(`task-${n}`),
      operation: operationName(operation),
      target: target(`${operation}/depot=${depot}`),
    });
    const batch = `${task.target}#1#1` as BatchId;
    await kit.tasks.insert([task]);
    await kit.tasks.claim([candidate(task.id)], batch);
    const error = { code: 'refused', message, retriable: false };
    const results = [{ id: task.id, outcome: { status: 'failed', error } as const }];
    await kit.tasks.finish(results, { id: batch, target: task.target, attempts: 1, at: NOW, keep: 1_000 });
  }
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  const ask = async (path: string) => {
    const response = await app.request(`/v1${path}`);
    return { status: response.status, ...((await response.json()) as Answer) };
  };
  return { kit, ask };
};

it('a page of a thousand different failures fits into an answer of Lambda', async () => {
  const text = (n: number) => [...String(n)].map((digit) => 'ABCDEFGHIJ'[Number(digit)]).join('');
  const failed = (count: number, character: string) =>
    Array.from({ length: count }, (_, n) => ['MUC', `${text(n)} ${character.repeat(1_000)}`] as const);
  // Each takes seven bytes in the answer, more than any other character.
  const many = await started(...failed(1_000, '\u0001'));
  const answer = await many.ask('/failures');
  expect(new Set(answer.groups.map(({ key }) => key)).size).toBe(1_000);
  expect(bytesInString(JSON.stringify(answer))).toBeLessThan(6_000_000);
  const few = await started(...failed(100, '\u0001'));
  expect((await few.ask('/failures')).groups[0]?.cause).toHaveLength(1_000);
});

it('failures are grouped by operation, code and cause, the largest group first', async () => {
  const { ask } = await started(
    ['MUC', 'answered 503: overloaded'],
    ['MUC', 'answered 422: no parcel "A" (try 1)'],
    ['JFK', 'answered 422: no parcel "B" (try 27)'],
    ['JFK', 'answered 422: no parcel "C" (try 3)', 'parcels'],
  );
  const { groups, looked, status } = await ask('/failures');
  expect([status, looked]).toEqual([200, 4]);
  expect(groups).toEqual([
    {
      key: expect.stringMatching(/^[\w-]{10}$/),
      operation: 'ship',
      code: 'refused',
      cause: 'answered 422: no parcel "…" (try …)',
      message: 'answered 422: no parcel "A" (try 1)',
      tasks: 2,
      targets: 2,
      ids: ['task-1', 'task-2'],
    },
    expect.objectContaining({ cause: 'answered 503: overloaded', tasks: 1, targets: 1, ids: ['task-0'] }),
    expect.objectContaining({ operation: 'parcels', tasks: 1, ids: ['task-3'] }),
  ]);
  expect(new Set(groups.map(({ key }) => key)).size).toBe(3);
});

it('failures of one operation are grouped under the same keys', async () => {
  const { ask } = await started(['MUC', 'late'], ['MUC', 'late', 'parcels']);
  const all = (await ask('/failures')).groups;
  const { groups, looked } = await ask('/failures?operation=parcels');
  expect([groups, looked]).toEqual([[expect.objectContaining({ key: all[1]?.key, ids: ['task-1'] })], 2]);
  expect(await ask('/failures?operation=none')).toMatchObject({ status: 400, errors: [{ path: 'operation' }] });
});

it('a page of failures reads a thousand tasks', async () => {
  const { ask } = await started(...Array.from({ length: 1_001 }, () => ['MUC', 'late'] as const));
  const first = await ask('/failures');
  expect(first).toMatchObject({ groups: [{ tasks: 1_000 }], looked: 1_000, cursor: expect.any(String) });
  const second = await ask(`/failures?cursor=${first.cursor}`);
  expect(second).toMatchObject({ groups: [{ key: first.groups[0]?.key, tasks: 1 }], looked: 1 });
  expect(second).not.toHaveProperty('cursor');
});

it('failed tasks of all Targets are listed page by page; waiting ones need a Target', async () => {
  const { ask } = await started(['MUC', 'late'], ['JFK', 'late'], ['NYC', 'late', 'parcels']);
  const first = (await ask('/tasks?status=failed&limit=2')) as unknown as { tasks: object[]; cursor: string };
  const second = (await ask(`/tasks?status=failed&limit=2&cursor=${first.cursor}`)) as unknown as { tasks: object[] };
  expect([...first.tasks, ...second.tasks]).toMatchObject([
    { id: 'task-0', target: 'ship/depot=MUC', error: { message: 'late' } },
    { id: 'task-1' },
    { id: 'task-2' },
  ]);
  for (const [path, reason] of [
    ['/tasks', /^is required/],
    ['/tasks?status=created', /^is required/],
    ['/tasks?status=failed&target=', /^must be a Target/],
  ] as const)
    expect(await ask(path), path).toMatchObject({
      status: 400,
      errors: [{ path: 'target', reason: expect.stringMatching(reason) }],
    });
});
