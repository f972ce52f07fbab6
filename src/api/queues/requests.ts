/** Requests of `/queues` and `/dead-letters`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { cursor, dryRun, fields } from '../shared/fields.ts';

/** When a walk of several requests began. */
const BEGAN = { pattern: /^\d{1,15}$/ };

const REDRIVE = fields({
  dryRun: dryRun('Count, and do nothing.'),
  cursor: cursor(
    'The `cursor` of the answer before, for the rest of those that lay there at the first request.',
    BEGAN,
  ),
}).check(z.meta({ id: 'LetterRedriveRequest' }));

export const QUEUE_CALLS = { listQueues: { on: 'GET /queues' } } satisfies Calls;

export const LETTER_CALLS = {
  listDeadLetters: { on: 'GET /dead-letters' },
  redriveDeadLetters: { on: 'POST /dead-letters/:queue/redrive', body: REDRIVE },
} satisfies Calls;
