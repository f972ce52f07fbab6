/** Requests of `/queues` and `/dead-letters`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { cursor, dryRun, fields } from '../shared/fields.ts';

/** A cursor: the time of the first request of a redrive, in milliseconds since the epoch. */
const BEGAN = { pattern: /^\d{1,15}$/ };

const REDRIVE = fields({
  dryRun: dryRun('If true, the call only counts the messages.'),
  cursor: cursor(
    'The `cursor` of the previous answer. Only messages that were there at the first request are redriven.',
    BEGAN,
  ),
}).check(z.meta({ id: 'LetterRedriveRequest' }));

export const QUEUE_CALLS = { listQueues: { on: 'GET /queues', right: 'read' } } satisfies Calls;

export const LETTER_CALLS = {
  listDeadLetters: { on: 'GET /dead-letters', right: 'read' },
  redriveDeadLetters: { on: 'POST /dead-letters/:queue/redrive', right: 'operate', audit: 'redrive', body: REDRIVE },
} satisfies Calls;
