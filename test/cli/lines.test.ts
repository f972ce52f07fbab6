import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { chunksOf, type Line } from '../../tools/cli/shared/lines.ts';

/** The largest event that Lambda accepts. Its body is a JSON string. */
const EVENT_MAX = 6 * 1_024 * 1_024;

it('a line ends at a line feed, and not within a JSON string', async () => {
  const file = join(temporaryFolder('lines'), 'ends.jsonl');
  const payload = '{"depot":"\u2028{}\u2029{}\u0085","text":"ünï \u{1f600}"}';
  writeFileSync(file, `\ufeff${payload}\r\n\n${payload.repeat(20_000).replaceAll('}{', '}\n{')}`);
  const texts: string[] = [];
  for await (const chunk of chunksOf(file, 'ship', {}, 'T'))
    texts.push(...chunk.map(({ text }) => text.replace(/"T-\d{9}"/, '"T"')));
  expect(texts).toHaveLength(20_001);
  expect([...new Set(texts)]).toEqual([`{"operation":"ship","id":"T","payload":${payload}}`]);
});

it('chunks of lines fit into a Lambda event, in which each quote takes two bytes', async () => {
  const file = join(temporaryFolder('lines'), 'quotes.jsonl');
  const line = JSON.stringify({ depot: 'MUC', list: Array.from({ length: 40_000 }, () => '') });
  writeFileSync(file, Array.from({ length: 100 }, () => line).join('\n'));
  let lines = 0;
  for await (const chunk of chunksOf(file, 'ship', {}, 'T')) {
    lines += chunk.length;
    const body = `{"tasks":[${chunk.map(({ text }) => text).join(',')}]}`;
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(EVENT_MAX - 100_000);
  }
  expect(lines).toBe(100);
});

it('a line that is not UTF-8 is refused, and the others are sent', async () => {
  const file = join(temporaryFolder('lines'), 'broken.jsonl');
  const good = Buffer.from('{"depot":"Ü"}\n');
  // Longer than one read, so that a read may end within a character.
  const long = Buffer.from(`{"depot":"MUC","text":"${'ü\u{1f600}'.repeat(50_000)}"}\n`);
  writeFileSync(
    file,
    Buffer.concat([good, Buffer.from('{"depot":"M\xfcC"}\n', 'latin1'), long, good, Buffer.from([0xff])]),
  );
  const lines: Line[] = [];
  for await (const chunk of chunksOf(file, undefined, {}, 'T')) lines.push(...chunk);
  expect(lines.map(({ number, text, problem }) => [number, problem ?? `${text}\n`])).toEqual([
    [1, String(good).replace('{', '{"id":"T-000000001",')],
    [2, 'is not UTF-8'],
    [3, String(long).replace('{', '{"id":"T-000000003",')],
    [4, String(good).replace('{', '{"id":"T-000000004",')],
    [5, 'is not UTF-8'],
  ]);
});
