/** How far fan-outs and lists are, in words. Pure. */
import { count } from '../base/format.ts';
import type { FanOutShape, ListShape } from './shapes.ts';

export const fanOutWords = ({ total, succeeded, failed, pending, status }: FanOutShape): string => {
  if (total === 0) return status === 'open' ? 'no items yet' : 'no items';
  if (succeeded === undefined || pending === undefined) return `${count(failed)} failed; the others are not counted`;
  return [
    `${count(succeeded)} succeeded`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    `${count(pending)} pending`,
  ].join(', ');
};

export const listWords = ({ total, available, leased, started, done, failed }: ListShape): string => {
  if (total === 0) return 'no jobs yet';
  const parts: readonly (readonly [number | undefined, string])[] = [
    [done, 'done'],
    [failed, 'of them failed'],
    [started, 'started'],
    [leased, 'leased'],
    [available, 'available'],
  ];
  const some = parts.filter(([value]) => value !== undefined && value > 0);
  return some.map(([value, word]) => `${count(value ?? 0)} ${word}`).join(', ') || 'none is done';
};
