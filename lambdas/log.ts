/**
 * Events as structured log lines: one per batch or message, with the ids that lead from one to the next, and nothing of
 * what others wrote. A downstream's answer may repeat a payload: what it said is on the tasks that it made fail.
 */
import type { FlowEvent } from '../src/domain/events/events.ts';
import type { Report } from '../src/ports/machine.ts';

/** The part of a logger that is used; Powertools' has it. */
export interface Log {
  info(message: string, fields: Record<string, unknown>): void;
  warn(message: string, fields: Record<string, unknown>): void;
  error(message: string, fields: Record<string, unknown>): void;
}

/** Events that somebody should look at. */
const WARNINGS: ReadonlySet<FlowEvent['event']> = new Set([
  'rejected',
  'unknown-batch',
  'foreign-results',
  'circuit-opened',
  'foreign-message',
  'revived',
  'unreadable',
  'not-delivered',
  'given-up',
  'not-given-up',
  'not-put-off',
  'share-unknown',
  'result-omitted',
  'destination-down',
  'not-stored',
  'untold',
  'repaired',
  'sweep-cut',
]);

export const reportTo =
  (log: Log): Report =>
  ({ event, ...all }) => {
    const { quote: _, ...fields } = { quote: undefined, ...all };
    return WARNINGS.has(event) ? log.warn(event, fields) : log.info(event, fields);
  };
