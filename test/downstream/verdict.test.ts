import { describe, expect, it } from 'vitest';
import type { ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import { verdictOf } from '../../src/domain/downstream/verdict.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import type { Outcome } from '../../src/domain/tasks/task.ts';
import { id } from '../factories/factories.ts';

const items = ['a', 'b', 'c'].map((name) => ({ id: id(name), payload: '{}' }));
const DONE: Outcome = { status: 'succeeded' };
const settled: ReadonlyMap<TaskId, Outcome> = new Map([[id('b'), DONE]]);
const refusedFor = (message: string): Outcome => ({
  status: 'failed',
  error: { code: 'refused', message, retriable: false },
});

describe('the verdict of an answer', () => {
  it.each([
    { kind: 'pending', settled } as const,
    { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true, settled } as const,
  ])('that is $kind keeps unsettled items open', (answer) => {
    const { results, open } = verdictOf(answer, items);
    expect(results).toEqual([{ id: id('b'), outcome: DONE }]);
    expect(open.map((each) => each.id)).toEqual([id('a'), id('c')]);
  });

  it('that is refused fails all items, except for settled ones', () => {
    const refused = refusedFor('answered 400');
    expect(verdictOf({ kind: 'refused', reason: 'answered 400', settled }, items).results).toEqual([
      { id: id('a'), outcome: refused },
      { id: id('b'), outcome: DONE },
      { id: id('c'), outcome: refused },
    ]);
  });

  it('that is too large fails all items, with what to do', () => {
    const { results, open } = verdictOf(
      { kind: 'refused', reason: 'answered 200', suspect: 'its-answer', settled },
      items,
    );
    const message = expect.stringMatching(
      /^its answer is too large .*\(answered 200\)\. The task may have been done\..* redrive/,
    );
    const failed = { status: 'failed', error: { code: 'answer-too-large', message, retriable: true } };
    expect([results.map(({ outcome }) => outcome), open]).toEqual([[failed, DONE, failed], []]);
  });

  it('with results keeps retried and absent items open', () => {
    const answers = new Map<TaskId, ItemAnswer>([
      [id('a'), { status: 'retry', reason: 'locked' }],
      [id('b'), DONE],
    ]);
    const verdict = verdictOf({ kind: 'results', items: answers, foreign: 0 }, items);
    expect(verdict).toMatchObject({ results: [{ id: id('b'), outcome: DONE }], reason: 'locked' });
    expect(verdict.open.map((each) => each.id)).toEqual([id('a'), id('c')]);
  });
});
