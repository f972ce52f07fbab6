import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { InvalidConfig, loadConfig } from '../../src/config/load.ts';
import { parseDuration, printDuration } from '../../src/domain/config/duration.ts';

const downstream = { kind: 'http', url: 'http://127.0.0.1:9100/batch' };

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
    await expect(loadConfig(file('b.json', '{'))).rejects.toThrow(/b\.json:\n {2}line 1, column 2: cannot be read: /);
    await expect(loadConfig(file('b.jsonl', '{}'))).rejects.toThrow(
      /b\.jsonl:\n {2}has a file type that is not supported; use one of \.json, \.ts, /,
    );
    await expect(loadConfig(file('c.mjs', 'export const config = {};'))).rejects.toThrow(/has no default export/);
    await expect(loadConfig(file('d.mjs', 'throw new Error("boom");'))).rejects.toThrow(/cannot be read: boom/);
    await expect(loadConfig(file('e.json', '{"operations":{}}'))).rejects.toBeInstanceOf(InvalidConfig);
  });
});

describe('a duration', () => {
  it('is a whole number with its unit, and is printed as one', () => {
    expect(['500ms', '1s', '5m', '2h', '30d', '0s'].map(parseDuration)).toEqual([
      500, 1_000, 300_000, 7_200_000, 2_592_000_000, 0,
    ]);
    for (const odd of ['', '5', '-1s', '1.5s', '1 s', 's', '1w', '1S']) expect(parseDuration(odd)).toBeUndefined();
    expect([500, 1_000, 90_000, 7_200_000, 0].map(printDuration)).toEqual(['500ms', '1s', '90s', '2h', '0ms']);
  });
});
