import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importedBy } from '../../scripts/build/manifest.ts';

it('the testbed loads neither the AWS SDK nor the CDK', async () => {
  const root = join(import.meta.dirname, '../..');
  const packages = await importedBy(root, ['src/testing/index.ts']);
  expect([...packages].sort()).toEqual(['hono', 'p-limit', 'ulid', 'zod']);
});
