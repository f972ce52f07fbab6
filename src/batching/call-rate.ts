/** When an operation's next call may be made under its rate: pure. */
import type { Millis } from './ids.ts';

/** Who comes later than this to his reserved moment has let it pass. */
export const VOID_AFTER: Millis = 2_000;
/** A wait that a function sleeps through: a message would hardly be faster. */
export const NAP: Millis = 1_000;

/** The next free moment, and the one after it. @param rate calls per second. */
export const nextMoment = (
  nextCallAt: Millis,
  now: Millis,
  rate: number,
): { readonly at: Millis; readonly next: Millis } => {
  const at = Math.max(now, nextCallAt);
  return { at, next: at + Math.ceil(1_000 / rate) };
};

/** Whether a moment that was reserved may still be used. */
export const isValid = (reserved: Millis | undefined, now: Millis): reserved is Millis =>
  reserved !== undefined && now <= reserved + VOID_AFTER;
