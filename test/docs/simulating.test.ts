/**
 * docs/how-to/simulate.md shows the output of its commands: `npm test -- test/docs/simulating.test.ts -u` rewrites it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { groupage, ROOT } from '../cli/groupage.ts';

const PAGE = join(ROOT, 'docs/how-to/simulate.md');
/** A block of the page: its command, and what it prints, from the line that begins with a word on. */
const SHOWN =
  /(<!-- simulated(?: from (\w+))? -->\n\n```text\n\$ groupage simulate (.*)\n)[\s\S]*?(<!-- \/simulated -->)/g;
const PICTURE = 'simulated-trade-off.svg';

/** Splits a command into words as a shell does. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

it('docs/how-to/simulate.md shows what its commands print and draw', async () => {
  const folder = temporaryFolder('simulating');
  const text = readFileSync(PAGE, 'utf8');
  const shown = [...text.matchAll(SHOWN)].map(([, , , args = '']) => args);
  expect(shown.length).toBeGreaterThanOrEqual(3);
  const printed = new Map<string, string>();
  for (const args of shown) {
    const { code, out } = await groupage(folder, ['simulate', ...wordsOf(args)]);
    expect([args, code]).toEqual([args, 0]);
    printed.set(args, out);
  }
  const anew = text.replace(SHOWN, (_, begin: string, from: string | undefined, args: string, end: string) => {
    const out = printed.get(args)?.trimEnd() ?? '';
    const part = from === undefined ? out : `…\n\n${out.slice(out.search(new RegExp(`^${from}`, 'm')))}`;
    return `${begin}\n${part}\n\`\`\`\n\n${end}`;
  });
  await expect(anew).toMatchFileSnapshot(PAGE);
  await expect(readFileSync(join(folder, PICTURE), 'utf8')).toMatchFileSnapshot(join(ROOT, 'docs/images', PICTURE));
}, 300_000);
