/** The same worker in two languages: without any library in JavaScript, and with the library in Python. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import { findPython } from '../backends/engines/python-interpreters.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { NODE } from '../cli/groupage.ts';

export const LANGUAGES = ['JavaScript', 'Python'] as const;
type Language = (typeof LANGUAGES)[number];

const CHILDREN = join(import.meta.dirname, 'children');

/** The command of a worker, for the tests of a `describe`. Skips them if there is no Python, except in CI. */
export const useWorker = (language: Language, kind: 'jobs' | 'partition'): (() => readonly string[]) => {
  let command: readonly string[] = [NODE, join(CHILDREN, 'worker.mjs')];
  let missing = '';
  beforeAll(async () => {
    if (language === 'JavaScript') return;
    const python = await findPython('3.9+');
    if (!python && NOTHING_MAY_BE_MISSING) throw new Error('no Python 3.9 or later');
    if (!python) missing = 'no Python 3.9 or later';
    command = [python?.path ?? '', join(CHILDREN, 'worker.py'), kind];
  });
  beforeEach((context) => {
    if (missing) context.skip(missing);
  });
  return () => command;
};

/** What the workers of a folder wrote down, line by line. */
export const notesIn = (folder: string): readonly string[] => {
  try {
    return readFileSync(join(folder, 'notes'), 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
};

/** The processes of the workers that wrote in a folder, and still run. */
export const livingIn = (folder: string): readonly number[] =>
  notesIn(folder)
    .flatMap((line) => (line.startsWith('pid ') ? [Number(line.slice(4))] : []))
    .filter((pid) => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    });

export const withFolder = (folder: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  TEST_FOLDER: folder,
  PYTHONDONTWRITEBYTECODE: '1',
  ...more,
});
