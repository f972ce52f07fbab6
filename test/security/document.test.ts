import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableUnder } from '../factories/documented.ts';
import { type NamedTest, POWERS, THREATS } from './threats.ts';

const DOCUMENT = 'docs/explanation/security.md';
const ROOT = join(import.meta.dirname, '../..');
const rows = tableUnder('| threat | protection |', DOCUMENT);
/** Without the rows that only head a group. */
const threats = rows.filter(([threat = '']) => !threat.startsWith('**'));

interface Named {
  readonly file: string;
  readonly test: string;
}

/** Whether a file has a test, or a promise on templates, of this name: the first argument of a call. */
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
  it('names existing tests in every row', () => {
    expect(threats.length).toBeGreaterThan(40);
    expect(threats.map(([threat]) => threat)).toEqual(Object.keys(THREATS));
    for (const [threat = '', protection = ''] of threats) {
      const tests = (THREATS[threat] ?? []).map(([file, test]) => ({ file: join(ROOT, file), test }));
      expect([threat, protection !== '', tests.length > 0]).toEqual([threat, true, true]);
      expect([threat, tests.filter((each) => !has(each))]).toEqual([threat, []]);
    }
  });

  it('names tests of each power of producers with the right and without it', () => {
    const powers = tableUnder('| power | needs by default | widen or narrow it |', DOCUMENT);
    expect(powers.map(([power]) => power)).toEqual(Object.keys(POWERS));
    const isMissing = ([file, test]: NamedTest) => !has({ file: join(ROOT, file), test });
    expect(Object.values(POWERS).flatMap((each) => [each.with, each.without].filter(isMissing))).toEqual([]);
  });

  it('would find a missing test', () => {
    const file = join(ROOT, 'test/security/document.test.ts');
    expect(has({ file, test: 'names existing tests in every row' })).toBe(true);
    expect(has({ file, test: 'names existing tests' })).toBe(false);
    expect(has({ file, test: 'the list of threats' })).toBe(false);
    expect(has({ file: `${file}x`, test: 'names existing tests in every row' })).toBe(false);
  });
});
