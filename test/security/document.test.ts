import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableUnder } from '../factories/documented.ts';

const DOCUMENT = 'docs/explanation/security.md';
const ROOT = join(import.meta.dirname, '../..');
const rows = tableUnder('| threat | what holds it | tests |', DOCUMENT);
/** Not the lines that only head a group. */
const threats = rows.filter(([threat = '']) => !threat.startsWith('**'));

interface Named {
  readonly file: string;
  readonly test: string;
}

/** The tests that a cell names: `[file](path): name of the test`, one after the other. */
const testsIn = (cell: string): Named[] =>
  cell.split('<br>').map((each) => {
    const [, path, test] = /^\[[\w-]+\]\((\S+)\): (.+)$/.exec(each) ?? [];
    if (path === undefined || test === undefined)
      throw new Error(`${DOCUMENT} names a test as ${JSON.stringify(each)}`);
    return { file: join(ROOT, dirname(DOCUMENT), path), test };
  });

/** Whether a file has a test of this name, or a promise about templates: the first argument of a call. */
const has = ({ file, test }: Named): boolean =>
  existsSync(file) &&
  ["'", '"', '`'].some((quote) => {
    const literal = `${quote}${test.replaceAll(quote, `\\${quote}`)}${quote},`;
    const source = readFileSync(file, 'utf8');
    const at = source.indexOf(literal);
    return (
      at !== -1 && /\b(?:it|promise)(?:\.each\([^()]*\))?\(\s*$|\)\(\s*$/.test(source.slice(Math.max(0, at - 200), at))
    );
  });

describe('the list of threats', () => {
  it('names tests that there are, in every line', () => {
    expect(threats.length).toBeGreaterThan(40);
    for (const [threat, holds = '', tests = ''] of threats) {
      expect([threat, holds !== '']).toEqual([threat, true]);
      expect([threat, testsIn(tests).filter((each) => !has(each))]).toEqual([threat, []]);
    }
  });

  it('would notice a test that is gone, or is no test', () => {
    const file = join(ROOT, 'test/security/document.test.ts');
    expect(has({ file, test: 'names tests that there are, in every line' })).toBe(true);
    expect(has({ file, test: 'names tests that there are' })).toBe(false);
    expect(has({ file, test: 'the list of threats' })).toBe(false);
    expect(has({ file: `${file}x`, test: 'names tests that there are, in every line' })).toBe(false);
  });
});
