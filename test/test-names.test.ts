/** A failed test is reported by its name: it has to be a sentence that fits a line. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const LONGEST = 90;

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly callee?: Node;
  readonly object?: Node;
  readonly tag?: Node;
  readonly arguments?: readonly Node[];
  readonly value?: unknown;
  readonly start: number;
  readonly end: number;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** The first name of a call: `it` of `it.each(…)(…)`. */
const calledBy = ({ callee, object, tag, name }: Node): string | undefined => {
  const inner = callee ?? object ?? tag;
  return inner ? calledBy(inner) : name;
};

/** The names of the tests in a file, each with those of its suites before it. */
const namesIn = (code: string): readonly string[] => {
  const names: string[] = [];
  const walk = (node: Node, before: string): void => {
    const [first] = node.arguments ?? [];
    const kind = node.type === 'CallExpression' ? calledBy(node) : undefined;
    const isText = first?.type === 'TemplateLiteral' || (first?.type === 'Literal' && typeof first.value === 'string');
    const isTest = kind === 'it' || kind === 'itAtLength' || kind === 'test';
    const isNamed = isText && (isTest || kind === 'describe' || kind === 'suite');
    const here = isNamed ? `${before} ${code.slice(first.start + 1, first.end - 1)}`.trim() : before;
    if (isNamed && isTest) names.push(here.replaceAll("\\'", "'"));
    for (const child of Object.values(node).flat()) if (isNode(child)) walk(child, here);
  };
  walk(parseAst(code, { lang: 'ts' }) as unknown as Node, '');
  return names;
};

it(`test names have at most ${LONGEST} characters`, () => {
  const files = execFileSync('git', ['ls-files', 'test', 'examples'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  const all = files.flatMap((file) => namesIn(readFileSync(join(ROOT, file), 'utf8')).map((name) => ({ file, name })));
  expect(all.length).toBeGreaterThan(2_500);
  expect(all.filter(({ name }) => name.length > LONGEST).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

it('names of suites and of repeated tests are found', () => {
  const code = "describe('a', () => { describe.each([1])('b', () => { it.skipIf(x)('c', f); it(`d`, f); }); });";
  expect(namesIn(code)).toEqual(['a b c', 'a b d']);
});
