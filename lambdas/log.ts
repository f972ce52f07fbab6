/**
 * Writes events as structured log lines, one for each batch or message, with the ids that lead from one to the next.
 * They contain no text of a downstream, because its answer may repeat a payload. Such text is only stored in the tasks
 * that it made fail.
 */
import { isWarning } from '../src/domain/events/measure.ts';
import type { Report } from '../src/ports/machine.ts';

/** The part of a logger that is used. Powertools' logger has it. */
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
