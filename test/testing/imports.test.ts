import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importedBy } from '../../scripts/build/manifest.ts';

it('the testbed needs neither the SDK nor the CDK: no test waits for them to load', async () => {
  const root = join(import.meta.dirname, '../..');
  const packages = await importedBy(root, ['src/testing/index.ts']);
  expect([...packages].sort()).toEqual(['hono', 'p-limit', 'ulid', 'zod']);
});
