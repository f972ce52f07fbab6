import { beforeEach, describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { lastAttempt } from '../../src/domain/batches/batch.ts';
import { type BatchId, candidateOf, parseCandidate, type Target } from '../../src/domain/ids.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aPostponed, aStart, batchId, id, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

const [MUC, JFK, ZRH] = ['MUC', 'JFK', 'Z%C3%BCrich'].map((depot) => target(`ship/depot=${depot}`)) as [
  Target,
  Target,
  Target,
];
const THROTTLED = { reason: 'answered 429', quote: 'slow down' };

describe('what is under way', () => {
  let kit: StepKit;
  let ask: (path: string) => Promise<Record<string, unknown>>;
  beforeEach(async () => {
    kit = stepKit(await memoryStores(), aConfig({}, { operation: operationName('parcels'), keys: ['depot'] }));
    const app = api({ ...kit, newId: () => 'new', onError: () => {} });
    ask = async (path) => (await (await app.request(`/v1${path}`)).json()) as Record<string, unknown>;
    for (const where of ['MUC', 'JFK', 'Zürich'])
      await register(
        kit,
        Array.from({ length: 6 }, (_, n) => ({
          messageId: `${where}-${n}`,
          body: JSON.stringify({ id: `${where.slice(0, 1)}-${n}`, operation: 'ship', payload: { depot: where } }),
        })),
      );
  });

  /** A sealed batch of these tasks. */
  const sealed = async (where: Target, number: number, oldestAt: number, ...names: readonly string[]) => {
    const batchOf = batchId(`${where}#1#${number}`);
    const rows = await kit.waiting.first(where, 100);
    const rowOf = (name: string) => rows.find(({ candidate }) => parseCandidate(candidate).id === name);
    const candidates = names.map((name) => rowOf(name)?.candidate ?? candidateOf(id(name), 1));
    const batch = { id: batchOf, target: where, sealedBy: 'full', candidates, oldestAt, createdAt: NOW } as const;
    const formed = await kit.batches.form(batch);
    await kit.tasks.claim(candidates, batchOf);
    await kit.waiting.remove(
      where,
      names.flatMap((name) => rowOf(name)?.entry ?? []),
    );
    await kit.batches.seal(formed, [], NOW + number, 1_000);
    return batchOf;
  };
  /** Ends the first attempts of a batch. */
  const fail = async (batch: BatchId, attempt: number, open: number, pending = 0) => {
    for (let each = 1; each <= attempt; each += 1) {
      const at = NOW + 100 * each;
      await kit.batches.start(batch, aStart(each, at, at + 10));
      const last = lastAttempt(THROTTLED, { attempt: each, endedAt: at, open, pending });
      const call = { attempt: each, at, took: 5, isError: true, ...THROTTLED, items: open };
      await kit.batches.postpone(batch, each, aPostponed(at + 50, { lastAttempt: last, calls: [call] }));
    }
  };

  it('is in operations and Targets, with reasons', async () => {
    await fail(await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1', 'M-2'), 7, 3);
    await fail(await sealed(MUC, 2, NOW - 5_000, 'M-3', 'M-4'), 1, 2, 1);
    await sealed(JFK, 1, NOW, 'J-0');
    const underWay = {
      batches: 2,
      tasks: 5,
      retried: 4,
      pending: 1,
      attempt: 7,
      oldestAt: '2025-12-31T23:59:51.000Z',
      reasons: [{ reason: 'answered 429', tasks: 4 }],
    };
    expect(await ask('/operations')).toMatchObject({ operations: [{ operation: 'ship', underWay }, {}] });
    expect(((await ask('/operations')).operations as object[])[1]).not.toHaveProperty('underWay');
    expect(await ask('/operations/ship')).toMatchObject({ underWay });
    const { targets } = (await ask('/targets?operation=ship')) as { targets: object[] };
    expect(targets).toMatchObject([{ waiting: 5 }, { target: MUC, waiting: 1, underWay }, { waiting: 6 }]);
    expect(targets.filter((each) => 'underWay' in each)).toHaveLength(1);
  });

  it('is a lower bound beyond 500 batches', async () => {
    for (let n = 1; n <= 501; n += 1) {
      await fail(await sealed(MUC, n, NOW + n, `x-${n}`), 1, 1);
    }
    expect(await ask('/operations/ship')).toMatchObject({ underWay: { batches: 500, tasks: 500, isAtLeast: true } });
  });

  it('sorts Targets; a search finds parts of names', async () => {
    await fail(await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1'), 1, 2);
    await sealed(JFK, 1, NOW, 'J-0', 'J-1', 'J-2', 'J-3', 'J-4', 'J-5');
    await kit.tasks.finish(
      [{ id: id('J-0'), outcome: { status: 'failed', error: { code: 'x', message: 'y', retriable: false } } }],
      { id: batchId(`${JFK}#1#1`), target: JFK, attempts: 1, at: NOW, keep: 1_000 },
    );
    await kit.locks.pause(JFK, { id: 'p', by: 'person', since: NOW });
    const listed = async (query: string) => {
      const { targets, looked } = (await ask(`/targets?${query}`)) as { targets: { target: string }[]; looked: number };
      return [targets.map((each) => each.target), looked];
    };
    expect(await listed('sort=waiting')).toEqual([[ZRH, MUC], 3]);
    expect(await listed('sort=waiting&limit=1')).toEqual([[ZRH], 3]);
    expect(await listed('sort=oldest&search=z%C3%BCr')).toEqual([[ZRH], 3]);
    expect(await listed('sort=retried')).toEqual([[MUC], 1]);
    expect(await listed('sort=retried&operation=parcels')).toEqual([[], 0]);
    expect(await listed('sort=failed&operation=ship')).toEqual([[JFK], 3]);
    expect(await listed('sort=paused')).toEqual([[JFK], 3]);
    expect(await listed('search=ZÜR')).toEqual([[ZRH], 3]);
    expect(await listed('search=ship&limit=2')).toEqual([[JFK, MUC], 2]);
    expect(await listed('limit=2')).toEqual([[JFK, MUC], undefined]);
    expect(await ask('/targets?sort=size')).toMatchObject({ errors: [{ path: 'sort' }] });
  });

  it('lists batches, newest first, or those under way', async () => {
    const old = await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1');
    await fail(old, 1, 2);
    const fresh = await sealed(JFK, 2, NOW, 'J-0');
    const listed = async (query: string) => {
      const { batches, ...rest } = (await ask(`/batches?${query}`)) as { batches?: { id: string }[] };
      return batches ? batches.map((each) => each.id) : rest;
    };
    expect(await listed('')).toEqual([fresh, old]);
    expect(await listed('operation=ship')).toEqual([fresh, old]);
    expect(await ask('/batches?operation=ship')).toMatchObject({ looked: 3 });
    expect(await listed('operation=ship&which=under-way')).toEqual([old]);
    expect(await listed(`target=${encodeURIComponent(MUC)}&which=under-way`)).toEqual([old]);
    expect(await listed(`target=${encodeURIComponent(JFK)}&which=under-way`)).toEqual([]);
    expect(await listed('which=under-way')).toMatchObject({ errors: [{ path: 'operation' }] });
    expect(await listed('operation=shop')).toMatchObject({ errors: [{ path: 'operation' }] });
    expect(await listed(`operation=ship&target=${encodeURIComponent(MUC)}`)).toMatchObject({
      errors: [{ path: 'operation' }],
    });
  });

  it('lists tasks in batches by status, page by page', async () => {
    await fail(await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1', 'M-2'), 2, 3);
    await fail(await sealed(JFK, 1, NOW - 8_000, 'J-0', 'J-1'), 1, 2);
    await sealed(MUC, 2, NOW - 7_000, 'M-3', 'M-4');
    const listed = async (query: string) => {
      const ids: string[][] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const page = (await ask(`/tasks?${query}${cursor && `&cursor=${cursor}`}`)) as {
          tasks: { id: string; status: string }[];
          cursor?: string;
        };
        ids.push(page.tasks.map((each) => each.id));
        cursor = page.cursor;
      }
      return ids;
    };
    const muc = `target=${encodeURIComponent(MUC)}`;
    expect(await listed(`${muc}&status=in-progress`)).toEqual([['M-0', 'M-1', 'M-2']]);
    expect(await listed(`${muc}&status=batched&limit=1`)).toEqual([['M-3'], ['M-4']]);
    expect(await listed('operation=ship&status=in-progress')).toEqual([['M-0', 'M-1', 'M-2', 'J-0', 'J-1']]);
    expect(await listed('operation=ship&status=in-progress&limit=2')).toEqual([
      ['M-0', 'M-1'],
      ['M-2', 'J-0'],
      ['J-1'],
    ]);
    expect((await listed('operation=ship&status=in-progress&limit=3')).flat()).toHaveLength(5);
    expect(await listed('operation=ship&status=batched')).toEqual([[]]);
    for (const [query, path] of [
      ['status=batched', 'target'],
      ['operation=ship', 'operation'],
      ['operation=shop&status=batched', 'operation'],
      ['status=done', 'status'],
      ['operation=ship&status=in-progress&cursor=x', 'cursor'],
      [`${muc}&status=in-progress&cursor=x`, 'cursor'],
    ])
      expect(await ask(`/tasks?${query}`), query).toMatchObject({ errors: [{ path }] });
  });

  it("shows a batch's calls, and the outcome of each of its tasks", async () => {
    const batch = await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1', 'M-2');
    await fail(batch, 1, 3);
    await kit.tasks.finish([{ id: id('M-1'), outcome: { status: 'succeeded' } }], {
      id: batch,
      target: MUC,
      attempts: 1,
      at: NOW,
      keep: 1_000,
    });
    const encoded = encodeURIComponent(batch);
    const call = { attempt: 1, startedAt: '2026-01-01T00:00:00.100Z', tookMs: 5, isError: true, tasks: 3 };
    expect(await ask(`/batches/${encoded}`)).toMatchObject({ calls: [{ ...call, answer: 'answered 429: slow down' }] });
    const status = { 'M-0': 'in-progress', 'M-1': 'succeeded', 'M-2': 'in-progress' };
    const { tasks } = (await ask(`/tasks?batch=${encoded}`)) as { tasks: { id: string; status: string }[] };
    expect(Object.fromEntries(tasks.map((each) => [each.id, each.status]))).toEqual(status);
    expect(await ask(`/tasks?batch=${encoded}&limit=2`)).toMatchObject({ tasks: [{}, {}], cursor: '2' });
    expect(await ask(`/tasks?batch=${encoded}&limit=2&cursor=2`)).toMatchObject({ tasks: [{ id: 'M-2' }] });
    expect(await ask(`/tasks?batch=${encoded}&status=failed`)).toMatchObject({ errors: [{ path: 'status' }] });
    expect(await ask('/tasks?batch=none')).toMatchObject({ status: 404 });
  });

  it('is found of operations that are no longer configured', async () => {
    await fail(await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1'), 1, 2);
    expect(await ask('/doctor/removed')).toEqual({ looked: 3, operations: [] });
    const { operations } = kit.config;
    const parcels = operations[operationName('parcels')];
    const config = { ...kit.config, operations: { parcels } } as typeof kit.config;
    const without = api({ ...kit, config, newId: () => 'new', onError: () => {} });
    expect(await (await without.request('/v1/doctor/removed')).json()).toEqual({
      looked: 3,
      operations: [
        {
          operation: 'ship',
          targets: 3,
          waiting: 16,
          oldestAt: expect.any(String),
          underWay: expect.objectContaining({ tasks: 2, batches: 1 }),
        },
      ],
    });
  });

  it('misses no open task if batches end between pages', async () => {
    const first = await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1', 'M-2');
    await fail(first, 1, 3);
    await fail(await sealed(JFK, 1, NOW - 8_000, 'J-0', 'J-1'), 1, 2);
    const queries = ['operation=ship', `target=${encodeURIComponent(MUC)}`];
    const pages = await Promise.all(queries.map((query) => ask(`/tasks?${query}&status=in-progress&limit=1`)));
    expect(pages).toMatchObject([{ tasks: [{ id: 'M-0' }] }, { tasks: [{ id: 'M-0' }] }]);
    const result = { id: id('M-0'), outcome: { status: 'succeeded' as const } };
    await kit.tasks.finish([result], { id: first, target: MUC, attempts: 1, at: NOW, keep: 1_000 });
    await kit.batches.start(first, aStart(2, NOW + 900, NOW + 901));
    await kit.batches.postpone(first, 2, aPostponed(NOW + 950, { open: [id('M-1'), id('M-2')] }));
    for (const [index, query] of queries.entries()) {
      const next = await ask(`/tasks?${query}&status=in-progress&limit=5&cursor=${pages[index]?.cursor}`);
      expect((next.tasks as { id: string }[]).slice(0, 2).map((each) => each.id)).toEqual(['M-1', 'M-2']);
    }
    const page = await ask('/tasks?operation=ship&status=in-progress&limit=1');
    await kit.batches.finish(first, 2, {
      status: 'succeeded',
      counts: { succeeded: 3, failed: 0 },
      at: NOW,
      keep: 1_000,
    });
    const rest = await ask(`/tasks?operation=ship&status=in-progress&limit=5&cursor=${page.cursor}`);
    expect(rest).toMatchObject({ tasks: [{ id: 'J-0' }, { id: 'J-1' }] });
  });

  it('is found of a Target behind 500 older batches of another', async () => {
    for (let n = 1; n <= 501; n += 1) await fail(await sealed(JFK, n, NOW - 90_000 + n, `x-${n}`), 1, 1);
    const own = await sealed(MUC, 1, NOW - 9_000, 'M-0', 'M-1');
    await fail(own, 1, 2);
    const muc = `target=${encodeURIComponent(MUC)}`;
    expect(await ask(`/batches?${muc}&which=under-way`)).toMatchObject({ batches: [{ id: own }] });
    expect(await ask(`/tasks?${muc}&status=in-progress`)).toMatchObject({ tasks: [{ id: 'M-0' }, { id: 'M-1' }] });
    const jfk = `/batches?target=${encodeURIComponent(JFK)}&which=under-way&limit=100`;
    const ids = new Set<string>();
    for (let cursor: unknown = ''; cursor !== undefined; ) {
      const page = (await ask(`${jfk}${cursor && `&cursor=${String(cursor)}`}`)) as {
        batches: { id: string }[];
        cursor?: string;
      };
      for (const each of page.batches) ids.add(each.id);
      cursor = page.cursor;
    }
    expect(ids.size).toBe(501);
    expect(await ask('/batches?target=ship/depot=typo&which=under-way')).toMatchObject({ status: 404 });
    for (const path of [`${jfk}&cursor=x`, '/targets?sort=retried&cursor=x'])
      expect(await ask(path), path).toMatchObject({ errors: [{ path: 'cursor' }] });
  });
});
