import { expect, it } from 'vitest';
import { parseOptions } from '../tools/options.ts';

const OPTIONS = { stage: { type: 'string' }, yes: { type: 'boolean' } } as const;

it('options are read', () => {
  expect({ ...parseOptions(['--stage', 'dev', '--yes'], OPTIONS) }).toEqual({ stage: 'dev', yes: true });
});

it.each([
  ['an option given twice', ['--stage', 'prod', '--stage=dev'], /--stage is given twice/],
  ['an unknown option', ['--region', 'eu-west-1'], /--region/],
  ['a missing value', ['--stage'], /--stage/],
])('%s is refused', (_, args, problem) => {
  expect(() => parseOptions(args, OPTIONS)).toThrow(problem);
});
