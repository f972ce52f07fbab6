import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { RELEASE } from '../../src/domain/release.ts';
import { NewerRow } from '../../src/ports/rows.ts';
import { groupage } from '../cli/groupage.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const ROOT = join(import.meta.dirname, '../..');

it('the command, the API and the package have the same version', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(RELEASE).toBe(version);
  expect(await groupage(ROOT, ['--version'])).toMatchObject({ code: 0, out: `${version}\n` });
  const answer = await api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} }).request('/v1/about');
  expect(await answer.json()).toEqual({ version });
});

it('the change log has a section for this version', () => {
  expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).toContain(`\n## [${RELEASE}]`);
});

it('the API answers 409 to a row of a later release, and does not log an error', async () => {
  const kit = stepKit(memoryStores());
  const newer = new NewerRow({ kind: 'task', name: 'a-1', version: 2, reads: 1, release: RELEASE });
  const logged: unknown[] = [];
  const app = api({
    ...kit,
    tasks: { ...kit.tasks, get: () => Promise.reject(newer) },
    newId: () => 'new',
    onError: (cause) => logged.push(cause),
  });
  const answer = await app.request('/v1/tasks/a-1');
  expect([answer.status, await answer.json()]).toEqual([409, expect.objectContaining({ detail: newer.message })]);
  expect(logged).toEqual([]);
});
