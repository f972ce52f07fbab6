import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { levelsOf } from '../../tools/cli/commands/completion/tree.ts';
import { program } from '../../tools/cli/program.ts';
import { groupage } from './groupage.ts';

const folder = temporaryFolder('completion');

const scriptFor = async (shell: string): Promise<string> => {
  const { code, out } = await groupage(folder, ['completion', shell]);
  expect(code).toBe(0);
  return out;
};

describe('completion in bash', () => {
  beforeAll(async () => {
    writeFileSync(join(folder, 'script.bash'), await scriptFor('bash'));
    writeFileSync(join(folder, 'my config.json'), '{}');
  });

  /** What bash offers for the last word. */
  const offered = async (...words: readonly string[]): Promise<string[]> => {
    const program = `
      source script.bash
      COMP_WORDS=(groupage "$@")
      COMP_CWORD=$#
      $(complete -p groupage | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', program, 'bash', ...words], { cwd: folder });
    return stdout.split('\n').filter((word) => word !== '');
  };

  it.each<[words: readonly string[], offered: readonly string[]]>([
    [['fan'], ['fan-out']],
    [['p'], ['pause']],
    [
      ['fleet', ''],
      ['show', 'drain', 'move', 'separate-checkpoints', 'worker'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['redrive', '--dry'], ['--dry-run']],
    [
      ['tasks', '--status', ''],
      ['created', 'batched', 'in-progress', 'failed'],
    ],
    [['tasks', '--status', 'failed', '--tar'], ['--target']],
    [['redrive', '--dead-letters', 'give'], ['given-up']],
    [['check', 'my'], ['my config.json']],
    [['dev', '--config', 'my'], ['my config.json']],
    // The value of an option is not a command, even if it has the same name.
    [['send', '--id', 'fleet', '--fi'], ['--file']],
    [['send', '--id', ''], []],
    [['status', ''], []],
    [['--ver'], ['--version']],
  ])('offers for %j: %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('in %s has every command, option and choice', async (shell) => {
    const script = await scriptFor(shell);
    const levels = levelsOf(program());
    const words = levels.flatMap(({ commands, options, arguments: all }) => [
      ...commands.map(({ word }) => word),
      // fish names a long option without its dashes.
      ...options.flatMap(({ forms }) => forms.map((form) => (shell === 'fish' ? form.replace(/^--?/, ' ') : form))),
      ...[...options.map(({ values }) => values), ...all].flatMap((values) =>
        values.kind === 'choices' ? values.choices : [],
      ),
    ]);
    expect(words.length).toBeGreaterThan(100);
    expect(words.filter((word) => !script.includes(word))).toEqual([]);
  });

  it.each(['bash', 'zsh', 'fish'])('in %s has a valid syntax, if that shell is installed', async (shell) => {
    const isInstalled = spawnSync(shell, ['--version']).status === 0;
    const file = join(folder, `script.${shell}`);
    writeFileSync(file, await scriptFor(shell));
    if (isInstalled) expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
    else expect(shell).not.toBe('bash');
  });

  it('refuses an unknown shell, and prints which it knows', async () => {
    expect(await groupage(folder, ['completion', 'csh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
