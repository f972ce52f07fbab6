import { expect, it } from 'vitest';
import { isValid, nextMoment, VOID_AFTER } from '../../src/batching/call-rate.ts';
import { NOW } from '../factories/factories.ts';

it('the next call is made now, or when those before it leave room', () => {
  expect(nextMoment(0, NOW, 4)).toEqual({ at: NOW, next: NOW + 250 });
  expect(nextMoment(NOW + 600, NOW, 0.5)).toEqual({ at: NOW + 600, next: NOW + 2_600 });
});

it('a moment that was reserved is void once it is past for a while', () => {
  expect([undefined, NOW + 9_000, NOW - VOID_AFTER, NOW - VOID_AFTER - 1].map((at) => isValid(at, NOW))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
