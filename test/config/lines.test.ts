import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { offsetOfJsonError } from '../../src/config/json-error.ts';
import { keysOf } from '../../src/config/literal.ts';
import { InvalidConfig, loadConfig } from '../../src/config/load.ts';
import { positionAt } from '../../src/config/position.ts';
import { run } from '../package/tarball.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');

describe('the line of a problem', () => {
  const folder = temporaryFolder('lines');
  const write = (name: string, lines: readonly string[]): string => {
    const file = join(folder, name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const problems = async (name: string, ...lines: readonly string[]): Promise<string[]> => {
    const cause: unknown = await loadConfig(write(name, lines)).catch((error: unknown) => error);
    if (!(cause instanceof InvalidConfig)) throw cause;
    return cause.message.split('\n').slice(1);
  };

  it('is known in JSON, also for a key that is missing', async () => {
    const [size, unknown, url] = await problems(
      'a.json',
      '\ufeff{',
      '  "operations": {',
      '    "ship": {',
      '      "target": ["depot"],',
      '      "batch": { "maxSize": 0, "maxWiat": "1s" },',
      '      "downstream": { "kind": "http" }',
      '    } } }',
    );
    expect(size).toMatch(/^ {2}line 5, column 18: operations\.ship\.batch\.maxSize must be/);
    expect(unknown).toMatch(/^ {2}line 5, column 32: operations\.ship\.batch\.maxWiat is unknown/);
    expect(url).toMatch(/^ {2}line 6, column 7: operations\.ship\.downstream\.url must be/);
  });

  it.each([
    ['a comma too many', ['{', '  "operations": {},', '}'], 'line 3, column 1'],
    ['an end too early', ['{', '  "operations": {'], 'line 3, column 1'],
    ['a comment', ['{', '  // why', '}'], 'line 2, column 3'],
    ['single quotes', ["{ 'operations': {} }"], 'line 1, column 3'],
    ['text after the end', ['{}', 'x'], 'line 2, column 1'],
  ])('is known for a syntax error in JSON: %s', async (_, lines, place) => {
    const said = await problems('b.json', ...lines);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(new RegExp(`^  ${place}: cannot be read: (?!.*position)`));
  });

  it('is known in a module that exports a literal', async () => {
    const said = await problems(
      'c.mjs',
      `const defineConfig = (config) => config; // export default {`,
      `const downstream = { kind: 'http', url: 'http://127.0.0.1:9/' };`,
      'export default defineConfig({',
      '  operations: {',
      "    // it's a { comment",
      "    'report-flights': {",
      '      target: [`a$' + '{1}}`, "b"],',
      '      batch: { maxSize: 0 /* } */ },',
      '      downstream: { ...downstream, timeout: (1 + 2) },',
      '    },',
      "    other: { target: ['a'] },",
      '  },',
      '});',
    ).then((all) => all.map((each) => each.slice(0, 70)));
    expect(said).toEqual([
      expect.stringContaining('line 8, column 16: operations.report-flights.batch.maxSize'),
      expect.stringContaining('line 9, column 36: operations.report-flights.downstream.timeout'),
      expect.stringContaining('line 11, column 5: operations.other.downstream'),
    ]);
  });

  it.each([
    ['spread after it', `{ a: { b: 1, ...c } }`],
    ['a key that is computed', `{ a: { b: 1, [c]: 2 } }`],
    ['a literal that is only a part', `{ a: { b: 1 }.c }`],
    ['a call', `{ a: f({ b: 1 }) }`],
    ['a shorthand', `{ a }`],
    ['a regular expression', `{ a: { b: 1, c: /}/ } }`],
    ['a method', `{ a: { b: 1, c() {} } }`],
    ['a function around it', `other({ a: { b: 1 } })`],
    ['a key with a dot', `{ a: { b: 1 }, 'a.b': 2 }`],
    ['a template in a template', '{ a: { b: `$' + '{c[`d`]}` } }'],
  ])('is not guessed: %s', (_, literal) => {
    expect(keysOf(`export default ${literal};`, 'module').find('a.b')).toBeUndefined();
  });

  it('is not guessed if the object changes, or with two literals', () => {
    const direct = 'export default { a: 1 };\n';
    expect(keysOf(direct, 'module').find('a')).toBe(direct.indexOf('a:'));
    expect(keysOf(direct + direct, 'module').find('a')).toBeUndefined();
    const named = 'const it: Config = { a: 1 };\nexport default it;\n';
    expect(keysOf(named, 'module').find('a')).toBe(named.indexOf('a:'));
    expect(keysOf(`${named}it.a = 2;`, 'module').find('a')).toBeUndefined();
  });

  it('is known in TypeScript, also for syntax, and names another file', async () => {
    const check = (name: string): Promise<string> =>
      run(folder, NODE, [join(ROOT, 'bin/groupage.ts'), 'check', name]).catch(String);
    write('d.ts', ['const x: number = 1;', 'export default {', '  a: ]', '};']);
    expect(await check('d.ts')).toContain('line 3, column 6: cannot be read: Expression expected');
    write('e.ts', ["export { default } from './d.ts';"]);
    expect(await check('e.ts')).toContain(`cannot be read: Expression expected (in ${join(folder, 'd.ts')}, line 3)`);
    write('f.mjs', ['export default {', '  a: ]', '};']);
    expect(await check('f.mjs')).toContain("line 2, column 6: cannot be read: Unexpected token ']'");
    write('g.ts', ['const read = () => {', '  throw new Error("boom");', '};', 'read();']);
    expect(await check('g.ts')).toContain('line 2, column 9: cannot be read: boom');
    write('h.ts', ['export default {', '  operations: {} as object,', '  extra: 1,', '} satisfies object;']);
    expect(await check('h.ts')).toContain('line 3, column 3: extra is unknown');
  });
});

describe('the scanner of JSON', () => {
  const part = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\u00e4"',
    '"\\x"',
    '1',
    '-0.5e3',
    '01',
    'true',
    'nul',
    ' ',
    '\n',
  );

  it('finds an error exactly where JSON.parse finds one', () => {
    const seen = { right: 0, placed: 0 };
    const valid = fc.json().map((text) => text);
    const changed = fc.tuple(valid, part, fc.nat()).map(([text, more, at]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + more + text.slice(index);
    });
    fc.assert(
      fc.property(
        fc.oneof(
          valid,
          changed,
          fc.array(part).map((parts) => parts.join('')),
        ),
        (text) => {
          const found = offsetOfJsonError(text);
          try {
            JSON.parse(text);
            seen.right += 1;
            expect(found).toBeUndefined();
          } catch (cause) {
            expect(found).toBeDefined();
            const position = /at position (\d+)/.exec(String(cause))?.[1];
            if (position === undefined || /string|escape|number|fraction|exponent|minus/i.test(String(cause))) return;
            seen.placed += 1;
            expect([text, found]).toEqual([text, Number(position)]);
          }
        },
      ),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.right, seen.placed)).toBeGreaterThan(100);
  });

  it('finds each key of a JSON text at its own place', () => {
    const key = fc.string({ minLength: 1 });
    const { value } = fc.letrec((of) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.double(),
        fc.dictionary(key, of('value')),
        fc.array(of('value')),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value), (object) => {
        const text = JSON.stringify(object, null, 2);
        for (const name of Object.keys(object).filter((each) => !each.includes('.'))) {
          const offset = keysOf(text, 'json').find(name) ?? 0;
          expect(text.startsWith(`${JSON.stringify(name)}:`, offset)).toBe(true);
          expect(positionAt(text, offset).column).toBe(3);
        }
      }),
    );
  });
});
