import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inFull } from '../../src/domain/downstream/downstream.ts';
import { readAnswer } from '../../src/domain/downstream/http-answer.ts';
import { parseRetryAfter, RETRY_AFTER_MAX, retryDelay } from '../../src/domain/downstream/retry.ts';
import { verdictOf } from '../../src/domain/downstream/verdict.ts';
import type { Outcome } from '../../src/domain/tasks/task.ts';
import { aRetry, id, NOW } from '../factories/factories.ts';
import { fuzz } from './fuzz.ts';
import { asSent, nameText, nearly, objectText, space, stringText, valueText } from './json-texts.ts';

const IDS = ['a', 'b.1', 'constructor', 'x:y@z', '0'];
const items = IDS.map((name) => ({ id: id(name), payload: '{}' }));
const STATUSES = ['succeeded', 'failed', 'retry', 'throttled', 'odd'] as const;

const error = fc.oneof(
  stringText,
  nearly({ code: stringText, message: stringText, retriable: fc.constantFrom('true', '1') }),
  valueText,
);
const result = nearly({
  id: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...IDS).map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: stringText },
  ),
  status: fc.constantFrom('"succeeded"', '"succeeded"', '"failed"', '"retry"', '"odd"'),
  result: valueText,
  error,
});
const results = fc
  .tuple(fc.array(result, { maxLength: 7 }), space)
  .map(([all, gap]) => `[${gap}${all.join(`,${gap}`)}${gap}]`);
const body = asSent(
  fc.oneof(
    { weight: 6, arbitrary: nearly({ results }, 40) },
    { weight: 1, arbitrary: nearly({ pending: fc.constant('true') }) },
    { weight: 1, arbitrary: fc.constant('') },
  ),
);
const status = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(200, 200, 202, 204) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 1_000 }) },
);

const anyAnswer = fc.record({
  status,
  body,
  contentType: fc.option(fc.string({ maxLength: 30 })),
  retryAfter: fc.option(fc.nat(), { nil: undefined }),
});

it('an answer gives each item a result or leaves it open with a reason', () =>
  fuzz(
    fc.oneof(
      { weight: 12, arbitrary: anyAnswer },
      { weight: 1, arbitrary: anyAnswer.map((answer) => ({ ...answer, status: 202, body: '{"pending":true}' })) },
    ),
    ['results', 'all-succeeded', 'pending', 'refused', 'unavailable'],
    (given) => {
      const answer = readAnswer(given, items, null);
      const verdict = verdictOf(answer, items);
      const ended = verdict.results.map((each) => each.id);
      const open = verdict.open.map((each) => each.id);
      expect([...ended, ...open].toSorted()).toEqual(items.map((each) => each.id).toSorted());
      expect(open.length > 0 && verdict.reason === '').toBe(false);
      for (const { outcome } of verdict.results) expectStorable(outcome);
      if ('reason' in answer) expectSayable(inFull(answer));
      expectSayable(inFull(verdict));
      return answer.kind;
    },
  ));

/** A task gets JSON as written, or an error of bounded length. */
const expectStorable = (outcome: Outcome): void => {
  if (outcome.status === 'succeeded') {
    if (outcome.result !== undefined) JSON.parse(outcome.result);
    return;
  }
  const { code, message, retriable } = outcome.error;
  expect([
    code !== '',
    code.length < 100,
    message.length < 1_100,
    code.isWellFormed(),
    message.isWellFormed(),
    typeof retriable,
  ]).toEqual([true, true, true, true, true, 'boolean']);
};

/** People read reasons: they are short and valid text. */
const expectSayable = (reason: string): void => {
  if (!reason.isWellFormed() || reason.length > 1_500) throw new Error(`the reason is ${JSON.stringify(reason)}`);
};

/** Few items, so that most answers mention each of them. */
const FEW = ['a', 'constructor'];
const few = FEW.map((name) => ({ id: id(name), payload: '{}' }));

interface Told {
  readonly item: string;
  readonly status: (typeof STATUSES)[number];
  readonly text: string;
}

/** The first result of an item stands; without a result the item is open. */
const expectedOf = (told: readonly Told[], item: string): string | undefined => {
  const first = told.find((each) => each.item === item && (each.status === 'succeeded' || each.status === 'failed'));
  return first && (first.status === 'succeeded' ? `succeeded ${first.text}` : 'failed');
};

it('an item gets exactly the result that the answer gives', () =>
  fuzz(
    fc.tuple(
      fc.array(
        fc.record({
          item: fc.constantFrom(...FEW, ...FEW, 'foreign', '__proto__'),
          status: fc.constantFrom(...STATUSES),
          text: valueText,
        }),
        { maxLength: 8 },
      ),
      fc.array(fc.tuple(nameText, valueText), { maxLength: 2 }),
      space,
    ),
    ['some open', 'none open'],
    ([told, more, gap]) => {
      const fields = ({ item, status, text }: Told): [string, string][] => [
        ['"result"', '"an earlier one"'],
        ['"id"', JSON.stringify(item)],
        ['"status"', JSON.stringify(status)],
        ['"result"', text],
      ];
      const list = `[${gap}${told.map((each) => objectText(fields(each), gap)).join(`,${gap}`)}${gap}]`;
      // Of two lists the last one counts.
      const around: [string, string][] = [
        ['"results"', '[{"id":"a","status":"failed"}]'],
        ...more,
        ['"results"', list],
      ];
      const answer = readAnswer(
        { status: 200, contentType: null, retryAfter: undefined, body: objectText(around, gap) },
        few,
        null,
      );
      expect(answer).toMatchObject({ kind: 'results', foreign: told.filter(({ item }) => !FEW.includes(item)).length });
      const { results: got, open } = verdictOf(answer, few);
      const shown = new Map<string, string>(
        got.map(({ id: each, outcome }) => [
          each,
          outcome.status === 'succeeded' ? `succeeded ${outcome.result}` : 'failed',
        ]),
      );
      for (const item of FEW) expect([item, shown.get(item)]).toEqual([item, expectedOf(told, item)]);
      return open.length > 0 ? 'some open' : 'none open';
    },
  ));

const header = fc.oneof(
  fc.nat().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.string({ maxLength: 30 }),
  fc.constantFrom('9'.repeat(400), '-1', '1.5', 'Mon, ', 'Sun, 99 Foo 99999 99:99:99 GMT', ' 7 ', '0x10', '1e9'),
);

it('a retry-after is a valid wait, or is ignored', () =>
  fuzz(header, ['kept', 'ignored'], (text) => {
    const pause = parseRetryAfter(text, NOW);
    const policy = aRetry();
    const delay = retryDelay(policy, 1, 0.5, pause);
    expect(Number.isSafeInteger(delay) && delay >= 0 && delay <= RETRY_AFTER_MAX + policy.maxDelay).toBe(true);
    return pause === undefined ? 'ignored' : 'kept';
  }));

const retries = fc.record({
  minDelay: fc.constantFrom(0, 1, 1_000, 86_400_000),
  longer: fc.nat({ max: 86_400_000 }),
  attempt: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1_000, max: 1_000_000 })),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

it('a retry delay is a valid wait after any number of attempts', () =>
  fuzz(retries, ['none', 'some'], ({ minDelay, longer, attempt, random }) => {
    const maxDelay = minDelay + longer;
    const delay = retryDelay(aRetry({ minDelay, maxDelay }), attempt, random);
    expect(Number.isSafeInteger(delay) && delay >= 0 && delay <= maxDelay).toBe(true);
    return delay === 0 ? 'none' : 'some';
  }));
