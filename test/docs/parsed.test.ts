/** The product's own parsers read the configurations and messages of the pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { EXAMPLE_CONFIG, loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { ROOT } from '../cli/groupage.ts';
import { blocksOf, pages } from './blocks.ts';
import { configsOf } from './configs.ts';

/** Register messages: blocks of JSON, bodies of the AWS CLI, and arguments of `groupage send`. */
const messagesOf = (page: string): readonly string[] => {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  const whole = blocksOf(page).flatMap(({ language, text }) =>
    language === 'json' && /^\{\s*"operation"/.test(text) && text.includes('"payload"') ? [text] : [],
  );
  const bodies = [...markdown.matchAll(/--message-body '(\{"operation"[^']+)'/g)].map(([, body = '']) => body);
  const sent = [...markdown.matchAll(/groupage(?: --)? send ([\w-]+) '(\{[^']+\})'/g)].map(
    ([, operation, payload]) => `{"operation":"${operation}","payload":${payload}}`,
  );
  return [...whole, ...bodies, ...sent];
};

const configs = new Map<string, readonly Config[]>();
beforeAll(async () => {
  for (const page of pages()) configs.set(page, await configsOf(page));
});

it('every configuration is right', () => {
  expect([...configs.values()].flat()).toHaveLength(19);
});

it('every message on the pages is valid under a configuration of the pages', async () => {
  const everywhere = [await loadConfig(EXAMPLE_CONFIG), ...[...configs.values()].flat()];
  let seen = 0;
  for (const page of pages())
    for (const body of messagesOf(page)) {
      seen += 1;
      const { operation } = JSON.parse(body) as { readonly operation: string };
      const having = (all: readonly Config[]) => all.filter(({ operations }) => Object.hasOwn(operations, operation));
      const own = having(configs.get(page) ?? []);
      const parsed = (own.length > 0 ? own : having(everywhere)).map((config) =>
        parseRegisterMessage(config, { messageId: 'm-1', body }),
      );
      expect([page, body, parsed, parsed.some(({ ok }) => ok)]).toEqual([page, body, parsed, true]);
    }
  expect(seen).toBeGreaterThan(10);
});
