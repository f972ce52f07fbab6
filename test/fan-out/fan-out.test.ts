/** What the header of a fan-out shows. */
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
  // No row may be written that would not be deleted: a function that reads the header now may write until SETTLED later.
  it.each<[string, Partial<FanOut>, boolean]>([
    ['open', { checkAt: NOW }, false],
    ['expired', { status: 'expired', ended, checkAt: NOW + 2 * SETTLED }, true],
    ['ended with rows due for deletion', { status: 'complete', ended, checkAt: NOW }, true],
    ['ended with rows due within SETTLED', { status: 'complete', ended, checkAt: NOW + SETTLED }, true],
    ['ended with rows due after SETTLED', { status: 'complete', ended, checkAt: NOW + SETTLED + 1 }, false],
    ['cancelled with rows due within SETTLED', { status: 'cancelled', ended, checkAt: NOW + SETTLED }, true],
    ['ended and no longer due', { status: 'complete', ended }, true],
    [
      'ended with an event to send',
      { status: 'complete', ended, checkAt: NOW, event: { to: 'ops', event: '{}' } as never },
      false,
    ],
  ])('soon loses its rows if %s: %s', (_, fields, isIt) => expect(isGoing(aFanOut(fields), NOW)).toBe(isIt));

  it.each<[FanOut | undefined, object]>([
    [undefined, { isUnknown: true, isComplete: false }],
    [aFanOut({ status: 'expired', ended }), { isUnknown: true, isComplete: false }],
    [aFanOut({}), { isComplete: false }],
    [aFanOut({ status: 'sealed' }), { isComplete: false }],
    [aFanOut({ status: 'cancelled', ended }), { isComplete: false }],
    [aFanOut({ status: 'complete', ended }), { isComplete: true }],
  ])('has a completion that follows from its status (%#)', (fanOut, completion) =>
    expect(completionOf(fanOut)).toMatchObject(completion),
  );
});
