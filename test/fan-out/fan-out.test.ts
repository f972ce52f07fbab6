/** What is known of a fan-out from its header alone. */
import { describe, expect, it } from 'vitest';
import { completionOf, type FanOut, isGoing, SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT } from './kit.ts';

const aFanOut = (fields: Partial<FanOut>): FanOut => ({
  ...{ id: FAN_OUT, fails: [], total: 3, createdAt: NOW, touchedAt: NOW, status: 'open', groups: 1, version: 1 },
  ...fields,
});
const ended = { at: NOW, because: 'all-done', failed: 0 } as const;

describe('a fan-out', () => {
  // Nobody may put a row that nobody removes: a function that sees it now may write until SETTLED later.
  it.each<[string, Partial<FanOut>, boolean]>([
    ['under way', { checkAt: NOW }, false],
    ['expired', { status: 'expired', ended, checkAt: NOW + 2 * SETTLED }, true],
    ['ended, whose rows go now', { status: 'complete', ended, checkAt: NOW }, true],
    ['ended, whose rows go within that time', { status: 'complete', ended, checkAt: NOW + SETTLED }, true],
    ['ended, whose rows go after that time', { status: 'complete', ended, checkAt: NOW + SETTLED + 1 }, false],
    ['cancelled, whose rows go within that time', { status: 'cancelled', ended, checkAt: NOW + SETTLED }, true],
    ['ended and not due any more', { status: 'complete', ended }, true],
    [
      'ended, whose event has to be sent before',
      { status: 'complete', ended, checkAt: NOW, event: { to: 'ops', event: '{}' } as never },
      false,
    ],
  ])('%s is going: %s', (_, fields, isIt) => expect(isGoing(aFanOut(fields), NOW)).toBe(isIt));

  it.each<[FanOut | undefined, object]>([
    [undefined, { isUnknown: true, isComplete: false }],
    [aFanOut({ status: 'expired', ended }), { isUnknown: true, isComplete: false }],
    [aFanOut({}), { isComplete: false }],
    [aFanOut({ status: 'sealed' }), { isComplete: false }],
    [aFanOut({ status: 'cancelled', ended }), { isComplete: false }],
    [aFanOut({ status: 'complete', ended }), { isComplete: true }],
  ])('%#: stands as it says', (fanOut, completion) => expect(completionOf(fanOut)).toMatchObject(completion));
});
