import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { program } from '../../tools/cli/program.ts';
import { ROOT } from '../cli/groupage.ts';

const named = (command: Command, before = ''): readonly string[] => {
  const name = `${before}${command.name()}`;
  return command.commands.length === 0 ? [name] : command.commands.flatMap((each) => named(each, `${name} `));
};

it('every command is in the table of docs/reference/command-line.md', () => {
  const table = readFileSync(join(ROOT, 'docs/reference/command-line.md'), 'utf8');
  const all = program().commands.flatMap((command) => named(command));
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((command) => !new RegExp(`\`${command}[\` ]`).test(table))).toEqual([]);
});
