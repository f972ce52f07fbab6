/** Every route of the API is called: each answer and problem has to match its description. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { committed } from './ajv.ts';
import { fanOuts, fleets, lists } from './ask-counted.ts';
import { limits, operationsAndTargets, queuesAndDoctor, tasksAndBatches } from './ask-flow.ts';
import { seen, started } from './asked-api.ts';
import { described, describedRoutes, routesWith } from './documented-api.ts';

beforeAll(async () => {
  for (const ask of [tasksAndBatches, operationsAndTargets, limits, queuesAndDoctor, fanOuts, lists, fleets])
    await ask();
  const { ask } = started();
  await ask('POST /operations/ship/resume');
  expect((await ask('GET /audit?limit=1')).entries).toHaveLength(1);
});

/** Answers that other tests cause: 400, 403 and 413 of every route, 500 and 503 of failures. */
const ELSEWHERE = / (?:400|403|413|500|503)$/;

it('the API returns the release of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await started().ask('GET /about')).toMatchObject({ status: 200, version });
});

it('every route returns each status that its description lists', async () => {
  const { ask } = started();
  // The names in the path do not exist.
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

it('every route refuses unknown parameters and too large a body', async () => {
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

it('an internal error is returned as a problem document', async () => {
  const { ask } = started((kit) => ({ tasks: { ...kit.tasks, get: () => Promise.reject(new Error('down')) } }));
  expect(await ask('GET /tasks/a')).toMatchObject({ status: 500, title: 'Internal error' });
});

it('the description contains the URL at which it was requested', async () => {
  const { servers, paths, status } = await started().ask('GET /openapi.json');
  expect([status, servers]).toEqual([200, [{ url: 'http://api.example/v1' }]]);
  expect(paths).toEqual(committed('openapi.json').paths);
});
