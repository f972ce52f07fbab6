import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDuration, printDuration } from '../src/config/duration.ts';
import { InvalidConfig, loadConfig } from '../src/config/load.ts';
import { handlerTimeout, operationFor } from '../src/config/resolved.ts';
import { parseConfig } from '../src/config/schema.ts';
import { temporaryFolder } from '../src/temporary-folder.ts';
import { operationName } from './factories/factories.ts';

const downstream = { kind: 'http', url: 'http://127.0.0.1:9100/batch' };
const problems = (operation: object): string[] => {
  const parsed = parseConfig({ operations: { ship: operation } });
  return parsed.ok
    ? []
    : parsed.problems.map(({ path, reason }) => `${path.replace('operations.ship.', '')} ${reason}`);
};

describe('a configuration', () => {
  it('needs a target and a downstream; the rest has defaults', () => {
    const parsed = parseConfig({ operations: { ship: { target: ['carrier', 'depot'], downstream } } });
    expect(parsed).toEqual({
      ok: true,
      value: {
        version: 1,
        operations: {
          ship: {
            operation: 'ship',
            keys: ['carrier', 'depot'],
            batch: {
              maxSize: 100,
              maxBytes: 900_000,
              maxWeight: 0,
              maxWait: 1_000,
              quietPeriod: 0,
              minSize: 1,
              window: null,
              bypass: null,
            },
            merge: null,
            concurrency: { perTarget: null, total: null },
            downstream: { ...downstream, headers: {}, secret: null, timeout: 10_000, deadline: 3_600_000 },
            retry: { immediate: 1, maxAttempts: 5, minDelay: 1_000, maxDelay: 300_000, bisect: true },
            callbacks: { failed: null, succeeded: null },
            rateLimit: null,
            circuit: { failures: 5, coolDown: 30_000 },
            shards: 1,
            keepTasks: 30 * 86_400_000,
          },
        },
        destinations: {},
      },
    });
  });

  it('is refused with the path and the fix of each problem', () => {
    expect(problems({ downstream })).toEqual(['target must be a list of payload fields, not nothing']);
    expect(problems({ target: ['a', 'a'], downstream })).toEqual([
      'target must be a list without repetitions, not ["a","a"]',
    ]);
    expect(problems({ target: [], downstream, batch: { maxSize: 1_001 } })).toEqual([
      'batch.maxSize must be a whole number from 1 to 1000, not 1001',
    ]);
    expect(problems({ target: [], downstream, batch: { maxWait: '1 s' } })[0]).toMatch(
      /^batch\.maxWait must be a duration from "0ms" to "7d".*not "1 s"$/,
    );
    expect(problems({ target: [], downstream: { ...downstream, kind: 'ftp' } })).toEqual([
      'downstream.kind must be "http", "lambda", "step-functions" or "queue", not "ftp"',
    ]);
    expect(problems({ target: [], downstream: { ...downstream, url: 'http://me:secret@host/' } })).toEqual([
      'downstream.url must not contain a user name or password',
    ]);
    for (const url of [
      'http//me:s3cret@host/',
      'htp://me:s3cret@host/',
      'http://me:s3cret@ho st/',
      'http://me:s3cret@host/',
    ]) {
      const [problem = ''] = problems({ target: [], downstream: { ...downstream, url } });
      expect([problem.startsWith('downstream.url must '), problem.includes('s3cret')]).toEqual([true, false]);
    }
    expect(problems({ target: [], downstream, retry: { minDelay: '1h', maxDelay: '1m' } })).toEqual([
      'retry.minDelay must not be longer than retry.maxDelay',
    ]);
    expect(problems({ target: [], downstream: { ...downstream, timeout: '4m' }, retry: { immediate: 3 } })[0]).toMatch(
      /^downstream\.timeout is too long for 4 calls/,
    );
    expect(problems({ target: [], downstream, keepTasks: '1h', retry: { maxDelay: '1h' } })[0]).toMatch(
      /^keepTasks must be at least retry\.maxAttempts × \(retry\.maxDelay \+ 1h for an attempt\)/,
    );
    expect(problems({ target: [], downstream, batch: { maxsize: 5 } })).toEqual([
      'batch.maxsize is unknown; did you mean "maxSize"?',
    ]);
    expect(problems({ target: [], downstream, batch: { quietPeriod: '0s' } })).toEqual([
      'batch.quietPeriod is not supported by this version: remove it',
    ]);
    for (const maxBytes of [1e99, 1e5 + 0.5, Number.NaN, '1000', null, 999])
      expect(problems({ target: [], downstream, batch: { maxBytes } })).toEqual([
        `batch.maxBytes must be a whole number from 1000 to 6000000, not ${JSON.stringify(maxBytes)}`,
      ]);
    const named = JSON.parse(
      JSON.stringify({ operations: { __PROTO__: { target: [], downstream } } }).replace('__PROTO__', '__proto__'),
    );
    const beside = { operations: { ...named.operations, ship: { target: [], downstream } } };
    Object.defineProperty(beside.operations, '__proto__', { value: {}, enumerable: true });
    for (const input of [named, beside])
      expect(parseConfig(input)).toMatchObject({
        ok: false,
        problems: expect.arrayContaining([
          { path: 'operations.__proto__', reason: expect.stringContaining('is no name for an operation') },
        ]),
      });
    expect(problems({ target: [], downstream, colour: 1 })[0]).toMatch(/^colour is unknown; known are target, batch/);
  });

  it('is refused as a whole when it is no configuration', () => {
    for (const input of [undefined, null, [], 'x', {}, { operations: {} }, { operations: { '-': {} } }])
      expect(parseConfig(input).ok, JSON.stringify(input)).toBe(false);
  });

  it('gives the batch handler time for the longest attempt of all operations', () => {
    const parsed = parseConfig({
      operations: {
        a: { target: [], downstream },
        b: { target: [], downstream: { ...downstream, timeout: '60s' }, retry: { immediate: 2 } },
      },
    });
    expect(parsed.ok && handlerTimeout(parsed.value)).toBe(190_000);
  });

  it('gives it whole seconds, since Lambda counts in them', () => {
    const parsed = parseConfig({ operations: { a: { target: [], downstream: { ...downstream, timeout: '250ms' } } } });
    expect(parsed.ok && handlerTimeout(parsed.value)).toBe(11_000);
  });

  it('without an operation whose tasks are stored says so', () => {
    const parsed = parseConfig({ operations: { ship: { target: [], downstream } } });
    expect(() => parsed.ok && operationFor(parsed.value, operationName('gone'))).toThrow(
      /^operation "gone" is not in the configuration: if tasks of it are stored, put it back/,
    );
    expect(() => parsed.ok && operationFor(parsed.value, operationName('constructor'))).toThrow();
  });
});

describe('a configuration file', () => {
  const folder = temporaryFolder('load');
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('is a module or JSON of the same shape', async () => {
    const operations = { ship: { target: ['depot'], downstream } };
    const fromJson = await loadConfig(file('a.json', JSON.stringify({ operations })));
    const fromModule = await loadConfig(file('a.mjs', `export default ${JSON.stringify({ operations })};`));
    expect(fromModule).toEqual(fromJson);
  });

  it('that cannot be read is refused by its name', async () => {
    await expect(loadConfig('none.json', folder)).rejects.toThrow(/^none\.json:\n {2}there is no such file$/);
    await expect(loadConfig(file('b.json', '{'))).rejects.toThrow(/b\.json:\n {2}cannot be read: /);
    await expect(loadConfig(file('b.jsonl', '{}'))).rejects.toThrow(
      /b\.jsonl:\n {2}is of no kind that a configuration can be: \.json, \.ts, /,
    );
    await expect(loadConfig(file('c.mjs', 'export const config = {};'))).rejects.toThrow(/has no default export/);
    await expect(loadConfig(file('d.mjs', 'throw new Error("boom");'))).rejects.toThrow(/cannot be read: boom/);
    await expect(loadConfig(file('e.json', '{"operations":{}}'))).rejects.toBeInstanceOf(InvalidConfig);
  });
});

describe('a duration', () => {
  it('is a whole number with its unit, and prints as one', () => {
    expect(['500ms', '1s', '5m', '2h', '30d', '0s'].map(parseDuration)).toEqual([
      500, 1_000, 300_000, 7_200_000, 2_592_000_000, 0,
    ]);
    for (const odd of ['', '5', '-1s', '1.5s', '1 s', 's', '1w', '1S']) expect(parseDuration(odd)).toBeUndefined();
    expect([500, 1_000, 90_000, 7_200_000, 0].map(printDuration)).toEqual(['500ms', '1s', '90s', '2h', '0ms']);
  });
});
