import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backendName } from '../backends/given.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { answerOf, DIFFERENCES } from './differences.ts';

describe('what this engine does otherwise', () => {
  let resources: Resources;
  beforeAll(async () => {
    resources = await makeResources();
  }, 120_000);
  afterAll(() => resources?.stop());

  for (const difference of DIFFERENCES)
    it(difference.what, async () => expect(await difference.ask(resources)).toBe(answerOf(difference, backendName())));

  it('is written down', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    for (const { what, answers } of DIFFERENCES)
      expect(text).toContain(
        `| ${what} | ${[answers.embedded, answers['local-processes'], answers.ministack, answers.aws].join(' | ')} |`,
      );
  });
});
