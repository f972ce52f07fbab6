import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellWord } from '../../../tools/console/page/src/base/format.ts';

it('a quoted word reaches a command unchanged, with any characters', () => {
  const words = [
    'ship/depot=MUC',
    "ship/depot='x';touch y;'",
    '$(id)',
    '`id`',
    'a b',
    '~',
    '-n',
    '*',
    '',
    'ü…',
    '\\',
    '"',
    '#x',
  ];
  const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${words.map(shellWord).join(' ')}`], { encoding: 'utf8' });
  expect(printed.split('\n').slice(0, -1)).toEqual(words);
});

it('a word without special characters gets no quotes', () =>
  expect(shellWord('ship/depot=M%C3%BC')).toBe('ship/depot=M%C3%BC'));
