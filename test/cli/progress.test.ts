import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { progressBar } from '../../tools/cli/shared/progress.ts';

const output = (terminal: { isTTY: boolean; columns: number }) =>
  Object.assign(new PassThrough(), terminal) as unknown as typeof process.stderr;

it('the progress bar is shown only on a terminal that has columns', () => {
  expect(progressBar(0, output({ isTTY: true, columns: 80 }))).toBeDefined();
  expect(progressBar(9, output({ isTTY: true, columns: 0 }))).toBeUndefined();
  expect(progressBar(9, output({ isTTY: false, columns: 80 }))).toBeUndefined();
});
