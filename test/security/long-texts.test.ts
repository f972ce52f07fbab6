/**
 * Code that reads text from outside must take time proportional to the text. No test measures this: for a million
 * characters, quadratic code exceeds the test's timeout.
 */
import { expect, it } from 'vitest';
import { stageProblem } from '../../lib/stage.ts';
import { causeOf } from '../../src/api/tasks/cause.ts';
import { parseCursor } from '../../src/aws/cursor.ts';
import { revivalsOf } from '../../src/aws/sqs-queues.ts';
import { parseDuration } from '../../src/domain/config/duration.ts';
import { readAnswer } from '../../src/domain/downstream/http-answer.ts';
import { parseRetryAfter } from '../../src/domain/downstream/retry.ts';
import { fanOutId, parseItemId } from '../../src/domain/fan-out-ids.ts';
import { isTarget, taskId } from '../../src/domain/ids.ts';
import { claimId, type ListId, listId, parseHandle } from '../../src/domain/lists/ids.ts';
import { isObject, parseJson, rawElements, rawMembers } from '../../src/util/json-text.ts';
import { printable, printJson } from '../../tools/terminal.ts';
import { id, NOW } from '../factories/factories.ts';

const MANY = 1_000_000;
/** Texts that begin like a match, continue for long, and end differently. */
const LONG_WINDED = [
  'a',
  ' ',
  '1',
  '\\',
  '"',
  '[',
  '{',
  '\t',
  '\u001b',
  'a.',
  '1 ',
  '/',
  '~',
  ',',
  '\\"',
  ' "',
  '":',
].flatMap((part) => [
  `${part.repeat(MANY / part.length)}!`,
  `a${part.repeat(MANY / part.length)}\n`,
  `Mon, ${part.repeat(MANY / part.length)}x`,
]);

it('patterns for names, headers and cursors take linear time', () => {
  for (const text of LONG_WINDED) {
    expect([fanOutId(text), parseItemId(text), parseItemId(`f:${text}`)]).toEqual([undefined, undefined, undefined]);
    expect([listId(text), claimId(text)]).toEqual([undefined, undefined]);
    for (const handle of [text, `a.${text}`, `a.0.1.${text}`, `${text}.0.1.abcdef`])
      expect(parseHandle('f' as ListId, handle)).toBe('no-handle');
    expect([taskId(text), isTarget(text), parseDuration(text), revivalsOf(text)]).toEqual([
      undefined,
      false,
      undefined,
      0,
    ]);
    expect(stageProblem(text)).toBeDefined();
    parseRetryAfter(text, NOW);
    causeOf(text, [text]);
    printable(text);
    printJson(text);
    expect(() => parseCursor(text, { Id: 'string' }, {})).toThrow('the cursor does not come from a page');
  }
});

it('JSON parsers and answers take linear time on any text', () => {
  const items = [{ id: id('a'), payload: '{}' }];
  for (const part of LONG_WINDED) {
    const texts = [
      part,
      `{"a":${part}}`,
      `[${part}]`,
      `{${JSON.stringify(part)}:1}`,
      `[${JSON.stringify(part)}]`,
      `{"a":${' '.repeat(MANY)}1${' '.repeat(MANY)}}`,
    ];
    for (const text of texts) {
      const json = parseJson(text);
      if (json.ok && isObject(json.value)) expect([...rawMembers(text).keys()]).toEqual(Object.keys(json.value));
      else if (json.ok && Array.isArray(json.value)) expect(rawElements(text)).toHaveLength(json.value.length);
      for (const status of [200, 500])
        readAnswer({ status, body: text, contentType: part.slice(0, 16_384), retryAfter: undefined }, items, null);
    }
  }
});
