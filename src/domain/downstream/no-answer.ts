import type { Millis } from '../ids.ts';

/** Why an HTTP request had no answer, for people. @param timeout that it was given. */
export const whyNoAnswer = (cause: unknown, timeout: Millis): string => {
  if (!(cause instanceof Error)) return `no answer: ${String(cause)}`;
  if (cause.name === 'TimeoutError') return `no answer within ${timeout} ms`;
  // fetch hides the reason (ECONNREFUSED, …) one level down.
  const inner = cause.cause instanceof Error ? cause.cause : undefined;
  return `no answer: ${inner ? inner.message || inner.name : cause.message}`;
};
