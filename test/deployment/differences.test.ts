import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Backend, deployedStack } from '../backends/backend.ts';
import { openDeployed } from '../backends/deployed.ts';
import { CLOUD_DIFFERENCES } from './differences.ts';

describe('what this cloud does otherwise', () => {
  const given = deployedStack();
  let backend: Backend;
  beforeAll(async () => {
    backend = await openDeployed(given);
  });

  for (const { what, ask, answers } of CLOUD_DIFFERENCES)
    it(what, async () => expect(await ask(backend)).toBe(answers[given.cloud.name]));

  it('is written down', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    for (const { what, answers } of CLOUD_DIFFERENCES)
      expect(text).toContain(`| ${what} | ${answers.ministack} | ${answers.aws} |`);
  });
});
