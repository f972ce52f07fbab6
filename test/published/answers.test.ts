/** Every route of the API, asked for real: what it answers, well or with a problem, is as it is described. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { committed } from './ajv.ts';
import { fanOuts, fleets, lists } from './ask-counted.ts';
import { operationsAndTargets, queuesAndDoctor, tasksAndBatches } from './ask-flow.ts';
import { seen, started } from './asked-api.ts';
import { described, describedRoutes, routesWith } from './documented-api.ts';

beforeAll(async () => {
  for (const ask of [tasksAndBatches, operationsAndTargets, queuesAndDoctor, fanOuts, lists, fleets]) await ask();
});

/** What others are asked for: 400 and 413 of every route, 500 and 503 of whoever fails. */
const ELSEWHERE = / (?:400|413|500|503)$/;

it('says which release it is, as the package does', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await started().ask('GET /about')).toMatchObject({ status: 200, version });
});

it('every route has answered well, and with each of its problems', async () => {
  const { ask } = started();
  // Where a name in the path is that of nothing.
  for (const [route, { requestBody }] of routesWith('404')) {
    const [media] = Object.values(requestBody?.content ?? {});
    const body = route.startsWith('GET') ? undefined : (media?.example ?? '');
    expect([route, await ask(route.replaceAll(/[{}]/g, ''), body)]).toEqual([
      route,
      expect.objectContaining({ status: 404 }),
    ]);
  }
  const all = described().map(({ operation, status }) => `${operation} ${status}`);
  expect(all.filter((each) => !ELSEWHERE.test(each) && !seen.has(each))).toEqual([]);
  expect(all.filter((each) => each.endsWith(' 503') && seen.has(each))).not.toEqual([]);
});

it('every route refuses what it does not know, and a body that is too large', async () => {
  const { ask } = started();
  for (const route of describedRoutes()) {
    const path = route.replace(' /v1', ' ').replaceAll(/[{}]/g, '');
    expect([route, await ask(`${path}?odd=1`)]).toEqual([route, expect.objectContaining({ status: 400 })]);
    if (/^(?:POST|PUT)/.test(route))
      expect([route, await ask(path, '{}', { 'content-length': '9000000' })]).toEqual([
        route,
        expect.objectContaining({ status: 413 }),
      ]);
  }
});

it('a failure of ours is a problem like any other', async () => {
  const { ask } = started((kit) => ({ tasks: { ...kit.tasks, get: () => Promise.reject(new Error('down')) } }));
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 500, title: 'Internal error' });
});

it('the description names the address at which it was asked for', async () => {
  const { servers, paths, status } = await started().ask('GET /openapi.json');
  expect([status, servers]).toEqual([200, [{ url: 'http://api.example/v1' }]]);
  expect(paths).toEqual(committed('openapi.json').paths);
});
