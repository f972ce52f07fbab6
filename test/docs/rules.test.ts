/**
 * The rules of docs/explanation/algorithm.md are those that code, tests and pages cite, and that known bugs break
 * (verification/known-bugs/rules.ts).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BREAKS, BUGS } from '../../verification/known-bugs/rules.ts';
import { ROOT } from '../cli/groupage.ts';

const PAGE = 'docs/explanation/algorithm.md';
const page = readFileSync(join(ROOT, PAGE), 'utf8');

interface Exception {
  readonly why: string;
  readonly tests: readonly string[];
}

/** Rules whose violation no schedule can show, with the tests that check them instead. */
const WITHOUT_BUG: Readonly<Record<string, Exception>> = {
  E3: {
    why: 'the guard that the losing function sent finds the free lock as well (G9), so the rule only saves time',
    tests: ['test/steps/elect-leader.test.ts'],
  },
  P9: {
    why: 'a node that joined again at once would only move more partitions',
    tests: ['test/fleet/timings.test.ts'],
  },
  P10: {
    why: 'new nodes that did not wait would only move more partitions',
    tests: ['test/fleet/decide.test.ts'],
  },
  P11: {
    why: 'in schedules, all nodes of a fleet have the same configuration',
    tests: ['test/fleet/silence.test.ts'],
  },
};

/** `### G5a Take the slots first` */
const rules = [...page.matchAll(/^### ([A-Z][1-9]\d?[a-c]?) \S.*$/gm)].map(([, tag = '']) => tag);

/** A letter of a rule with a number, except in quotes or as part of a name. */
const CITED = /(?<![\w"`#.$/-])[RLEGFHWTDPKONQJYM][1-9]\d?[a-c]?(?!\w|["-]|'(?!s\b))/g;
const TEXTS = /\.(?:ts|mts|mjs|js|md)$/;

const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => TEXTS.test(file) && file !== PAGE);
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The files that cite each tag. */
const cited = new Map<string, string[]>();
for (const file of tracked.filter((each) => /^(?:src|lambdas|lib|tools|verification|test|docs)\//.test(each)))
  for (const [tag] of textOf(file).matchAll(CITED)) cited.set(tag, [...(cited.get(tag) ?? []), file]);

/** Files with other texts that look like a tag. */
const NO_TAGS = ['test/docs/rules.test.ts'];

const broken = new Set(Object.values(BREAKS).flat());

/** The line of the page under a rule that no known bug breaks. */
const heldBy = ({ why, tests }: Exception): string =>
  `Tested by ${tests.map((file) => `[${file.replace(/^test\//, '')}](../../${file})`).join(', ')} only: ${why}.`;

describe('the rules of the algorithm', () => {
  it('have one heading each', () => {
    expect(rules.length).toBeGreaterThan(80);
    expect(rules).toEqual([...new Set(rules)]);
  });

  it('exist if they are cited', () => {
    const unknown = [...cited].flatMap(([tag, files]) => {
      const others = files.filter((file) => !NO_TAGS.includes(file));
      return rules.includes(tag) || others.length === 0 ? [] : [`${tag}: ${[...new Set(others)].join(', ')}`];
    });
    expect(unknown).toEqual([]);
  });

  it('are each broken by a known bug, or cited by a test', () => {
    const loose = rules.filter((rule) => {
      const { tests = [] } = WITHOUT_BUG[rule] ?? {};
      return !broken.has(rule) && !tests.some((file) => cited.get(rule)?.includes(file));
    });
    expect(loose).toEqual([]);
  });

  it('name their tests, if no known bug breaks them', () => {
    const inOneLine = page.replace(/\s+/g, ' ');
    for (const exception of Object.values(WITHOUT_BUG)) expect(inOneLine).toContain(heldBy(exception));
    expect(inOneLine.match(/Tested by \[/g)).toHaveLength(Object.keys(WITHOUT_BUG).length);
  });
});

describe('known bugs', () => {
  it('break a rule each', () => {
    expect(Object.keys(BREAKS).toSorted()).toEqual(BUGS.toSorted());
    expect([...broken].filter((rule) => !rules.includes(rule))).toEqual([]);
    for (const [bug, itsRules] of Object.entries(BREAKS)) expect(itsRules.length, bug).toBeGreaterThan(0);
  });

  it('are missing only for rules that explain why', () => {
    expect(rules.filter((rule) => !broken.has(rule))).toEqual(Object.keys(WITHOUT_BUG));
  });
});

it('no text refers to a document outside of the repository', () => {
  const outside =
    /\b(?:design,? section|section \d+ of the design|(?:T|D)\d+ of the design|the design(?:'s)? (?:draft|rule)|\(section \d+)/i;
  const wrong = tracked.filter((file) => !NO_TAGS.includes(file) && outside.test(textOf(file)));
  expect(wrong).toEqual([]);
});
