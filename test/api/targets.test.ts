import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

/** An API of two operations, and one task in each of these Targets of both. */
const started = async (...depots: readonly string[]) => {
  const parcels = { operation: operationName('parcels'), keys: ['depot'] };
  const kit = stepKit(await memoryStores(), aConfig({}, parcels));
  const bodies = depots.flatMap((depot) =>
    ['ship', 'parcels'].map((operation) => JSON.stringify({ operation, payload: { depot } })),
  );
  await register(
    kit,
    bodies.map((body, n) => ({ messageId: `m-${n}`, body })),
  );
  const apiOf = (config = kit.config) => {
    const app = api({ ...kit, config, newId: () => 'new', onError: () => {} });
    return async (path: string, body?: object) => {
      const response = await app.request(`/v1${path}`, body && { method: 'POST', body: JSON.stringify(body) });
      const answer = (await response.json()) as Record<string, unknown>;
      return { ...answer, status: response.status } as typeof answer;
    };
  };
  return { kit, apiOf, ask: apiOf() };
};

it('a cursor is valid only for its own list', async () => {
  const { ask } = await started('MUC', 'JFK');
  const badCursor = { status: 400, errors: [{ path: 'cursor', reason: expect.stringContaining('leave it out') }] };
  for (const path of ['/targets', '/doctor/targets']) {
    expect(await ask(`${path}?operation=ship&cursor=parcels`)).toMatchObject(badCursor);
    for (const cursor of ['zzz', '', '.', '__proto__', 'ship%00'])
      expect(await ask(`${path}?cursor=${cursor}`), cursor).toMatchObject(badCursor);
    expect(await ask(`${path}?operation=zzz&cursor=parcels`)).toMatchObject({ errors: [{ path: 'operation' }] });
    expect(await ask(`${path}?cursor=parcels`)).toMatchObject({ status: 200 });
  }
  const found: unknown[] = [];
  for (let cursor = ''; ; ) {
    const page = await ask(`/targets?operation=ship&limit=1${cursor}`);
    found.push(...(page.targets as { operation: string }[]).map(({ operation }) => operation));
    if (page.cursor === undefined) break;
    cursor = `&cursor=${page.cursor}`;
  }
  expect(found).toEqual(['ship', 'ship']);
});

it('the first page skips operations that have no Targets', async () => {
  const { apiOf, kit } = await started('MUC');
  const { operations } = aConfig({ operation: operationName('idle'), keys: ['depot'] });
  const ask = apiOf({ ...kit.config, operations: { ...operations, ...kit.config.operations } });
  for (const path of ['/targets', '/doctor/targets'])
    expect((await ask(`${path}?limit=1`)).targets, path).toHaveLength(1);
});

it('an unknown Target is answered 404, one without tasks or batches is empty', async () => {
  const { ask, apiOf, kit } = await started('MUC');
  const typo = 'ship/depot=MUX';
  const unknown = { status: 404, detail: `there is no Target "${typo}": no task was ever registered for it` };
  for (const path of ['/tasks?', '/tasks?status=failed&', '/batches?'])
    expect(await ask(`${path}target=${typo}`), path).toMatchObject(unknown);
  for (const more of [{}, { dryRun: true }])
    expect(await ask('/tasks/redrive', { target: typo, ...more })).toMatchObject(unknown);

  const target = 'ship/depot=MUC';
  const { operations } = kit.config;
  const withoutShip = {
    ...kit.config,
    operations: { parcels: operations[operationName('parcels')] },
  } as typeof kit.config;
  for (const each of [ask, apiOf(withoutShip)]) {
    expect(await each(`/tasks?target=${target}`)).toMatchObject({ status: 200, tasks: [{ target }] });
    expect(await each(`/tasks?target=${target}&status=failed`)).toEqual({ status: 200, tasks: [] });
    expect(await each(`/batches?target=${target}`)).toEqual({ status: 200, batches: [] });
    expect(await each('/tasks/redrive', { target })).toEqual({ status: 202, redriven: 0, skipped: [] });
  }
});

it('a search finds Targets of one operation by prefix, page by page', async () => {
  const { ask } = await started('MUC', 'MUX', 'JFK');
  const found = async (query: string) =>
    ((await ask(`/targets?${query}`)) as { targets?: { target: string }[] }).targets?.map(({ target }) => target);
  expect(await found('operation=ship&prefix=depot=MU')).toEqual(['ship/depot=MUC', 'ship/depot=MUX']);
  expect(await found('operation=parcels&prefix=depot=J')).toEqual(['parcels/depot=JFK']);
  expect(await found('operation=ship&prefix=depot=mu')).toEqual([]);
  expect(await found('operation=ship&prefix=')).toHaveLength(3);
  const first = await ask('/targets?operation=ship&prefix=depot=MU&limit=1');
  expect(first).toMatchObject({ targets: [{ target: 'ship/depot=MUC' }] });
  expect(await ask(`/targets?operation=ship&prefix=depot=MU&limit=1&cursor=${first.cursor}`)).toEqual({
    status: 200,
    targets: [expect.objectContaining({ target: 'ship/depot=MUX' })],
  });
});

it('a search without an operation, or with a too long prefix, is refused', async () => {
  const { ask } = await started('MUC');
  expect(await ask('/targets?prefix=depot')).toMatchObject({ status: 400, errors: [{ path: 'operation' }] });
  expect(await ask(`/targets?operation=ship&prefix=${'x'.repeat(513)}`)).toMatchObject({
    status: 400,
    errors: [{ path: 'prefix' }],
  });
  expect(await ask('/doctor/targets?operation=ship&prefix=depot')).toMatchObject({ status: 400 });
});
