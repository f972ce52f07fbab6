/** The tutorial, followed exactly: its files are saved, its commands run, and their output must match the page. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../tools/local/free-port.ts';
import { readLocalFile } from '../../tools/local/local-folder.ts';
import { ROOT } from '../cli/groupage.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type Block, blocksOf } from './blocks.ts';
import { type Terminal, terminal } from './terminal.ts';

const PAGE = 'docs/tutorials/first-batches.md';
/** The terminal for commands that end; other terminals run programs. */
const YOU = 'terminal 3';

/** A folder like a clone of this repository, made of links to its files. */
const clone = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-tutorial-'));
  const own = ['package.json', 'scripts'];
  for (const entry of readdirSync(ROOT)) {
    if (entry.startsWith('.') || entry.startsWith('groupage.config.')) continue;
    if (own.includes(entry)) cpSync(join(ROOT, entry), join(folder, entry), { recursive: true });
    else symlinkSync(join(ROOT, entry), join(folder, entry));
  }
  return folder;
};

const folder = clone();
const terminals = new Map<string, Terminal>();
const inTerminal = (name: string): Terminal => {
  const found = terminals.get(name) ?? terminal(folder);
  terminals.set(name, found);
  return found;
};
afterAll(async () => {
  for (const each of terminals.values()) await each.interrupt();
  rmSync(folder, { recursive: true, force: true });
});

/** The output on the page with any ids and times. Whether a batch is full in time depends on the machine. */
const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/#\d+#\d+/g, '#\\d+#\\d+')
      .replace(/\b[0-9A-Z]{6,}\b/g, '[0-9A-Z]+')
      .replace(/\b(?:full|waited)\s+\d+\s+\d+%/, '(?:full|waited) \\d+ \\d+%')
      .replaceAll('…', '.+')
      .replace(/\s+/g, '\\s+'),
  );

/** Commands that only read may be repeated until their output matches, each for about a second. */
const ONLY_LOOK = /^groupage (batches|operations|failures|targets|status \S+)$/;
const TRIES = 100;

/** The only tool that the page needs and the repository lacks. */
const hasAws = spawnSync('aws', ['--version']).status === 0;
let carrierPort = '';
/** With ports that are free on this machine. */
const here = (text: string): string =>
  text
    .replaceAll('9200', carrierPort)
    .replaceAll('http://127.0.0.1:4502', readLocalFile(folder)?.sqs ?? '')
    .replace(/^npm start$/m, 'npm start -- --port 0 --ephemeral');

const start = async (name: string, command: string): Promise<void> => {
  await inTerminal(name).interrupt();
  await inTerminal(name).start(command);
  if (command.startsWith('npm start')) await eventually(() => readLocalFile(folder));
};

const type = async ({ title = '', text }: Block, shows: Block | undefined): Promise<void> => {
  const commands = here(text).trim();
  const mayRepeat = commands.split('\n').every((line) => ONLY_LOOK.test(line));
  const expected = here(shows?.text ?? '')
    .split('\n')
    .filter(Boolean);
  for (let tries = 1; ; tries += 1) {
    const { shown, status } = await inTerminal(title).run(commands);
    const missing = expected.filter((line) => !patternOf(line).test(shown));
    if (mayRepeat && missing.length > 0 && tries < TRIES) continue;
    expect({ commands, shown, missing }).toMatchObject({ missing: [] });
    if (!shows) expect({ commands, shown, status }).toMatchObject({ status: 0 });
    return;
  }
};

it('the tutorial shows the output of its commands', async () => {
  carrierPort = String(await freePort());
  const blocks = blocksOf(PAGE).filter(({ text }) => hasAws || !/\baws sqs\b/.test(text));
  const local = blocks.slice(
    0,
    blocks.findIndex(({ text }) => text.startsWith('npm run deploy')),
  );
  expect(local.filter(({ title }) => title === YOU).length).toBeGreaterThan(8);
  for (const [index, block] of local.entries()) {
    const { title = '', language, text, interrupts } = block;
    const next = local[index + 1];
    if (interrupts) await inTerminal(interrupts).interrupt();
    if (language === 'sh' && title !== YOU) await start(title, here(text).trim());
    else if (language === 'sh') await type(block, next?.language === 'text' ? next : undefined);
    else if (title) writeFileSync(join(folder, title), here(text));
  }
  const calls = [
    ...inTerminal('terminal 1')
      .shown()
      .matchAll(/one call, parcels: (\d+)/g),
  ].map(([, n]) => Number(n));
  // 1 + 300 + 1 (AWS CLI) + 4, and 2 for the heavy one.
  expect(calls.reduce((sum, n) => sum + n, 0)).toBe(307 + (hasAws ? 1 : 0));
  expect(calls.length).toBeLessThan(100);
});
