import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { type LocalProcess, localProcess } from './process.ts';

const TMPDIR = mkdtempSync(join(tmpdir(), 'shared-'));
const folders = (): string[] => readdirSync(TMPDIR).filter((name) => name.startsWith('groupage-'));
const filesIn = (folder: string): string[] =>
  readdirSync(join(TMPDIR, folder), { recursive: true, encoding: 'utf8' }).sort();

let downstream: TestDownstream;
let [one, other]: LocalProcess[] = [];
beforeAll(async () => {
  downstream = await startTestDownstream(() => ({ status: 200 }));
  const config = { operations: { ship: operationAt(downstream.url) } };
  [one, other] = [localProcess(config, { TMPDIR }), localProcess(config, { TMPDIR })];
});
afterAll(async () => {
  await one?.remove();
  await other?.remove();
  await downstream.stop();
});

it('a start deletes the temporary files of a killed one, and keeps those of another that runs', async () => {
  const { api = '' } = (await other?.start()) ?? {};
  const [living = ''] = folders();
  const used = filesIn(living);
  expect(used.filter((name) => name.endsWith('index.mjs')).length).toBeGreaterThan(4);
  await one?.start();
  const [killed = ''] = folders().filter((name) => name !== living);
  await one?.kill();
  expect(filesIn(killed).length).toBeGreaterThan(20);

  await one?.start();
  await eventually(() => !folders().includes(killed));
  expect(folders()).toHaveLength(2);
  expect(filesIn(living)).toEqual(used);
  expect((await fetch(`${api}/about`)).status).toBe(200);

  await one?.remove();
  await other?.remove();
  expect(folders()).toEqual([]);
});
