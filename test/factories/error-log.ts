import type { Log } from '../../lambdas/log.ts';

/** A log that keeps its errors as text and drops the rest. */
export const errorLog = (errors: string[]): Log => ({
  info: () => {},
  warn: () => {},
  error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
});
