/**
 * Writes events as structured log lines. Their ids lead from a message to its task and batch. The lines contain no text
 * of a downstream, because its answer may repeat a payload. Such text is only stored in the tasks that failed because
 * of it.
 */
import { isWarning } from '../src/domain/events/measure.ts';
import type { Report } from '../src/ports/machine.ts';

/** The methods that a logger must have, as the logger of Powertools does. */
export interface Log {
  info(message: string, fields: Record<string, unknown>): void;
  warn(message: string, fields: Record<string, unknown>): void;
  error(message: string, fields: Record<string, unknown>): void;
}

export const reportTo =
  (log: Log): Report =>
  (happened) => {
    const { event, quote: _, ...fields } = { quote: undefined, ...happened };
    return isWarning(happened) ? log.warn(event, fields) : log.info(event, fields);
  };
