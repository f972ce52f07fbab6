/** Requests of `/queues` and `/dead-letters`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import type { Calls } from '../shared/calls.ts';
import { cursor, dryRun, fields, limit, list, oneOf, text } from '../shared/fields.ts';

/** A cursor: the time of the first request of a walk through a queue, in milliseconds since the epoch. */
const BEGAN = { pattern: /^\d{1,15}$/ };

const began = cursor(
  'The `cursor` of the previous answer. Only messages that were there at the first request are handled.',
  BEGAN,
);

/** Most ids in one request. */
const IDS_MAX = 100;

const ids = list(
  text(
    'The `id` of a message, as the list of messages shows it.',
    'must be the `id` of a message of this queue: 1 to 100 letters, digits, `.`, `_` and `-`',
    { pattern: /^[\w.-]{1,100}$/ },
  ),
  'The messages.',
  `must be a list of 1 to ${IDS_MAX} ids`,
  1,
  IDS_MAX,
);

const REDRIVE = fields({
  dryRun: dryRun('If true, the call only counts the messages.'),
  ids: z.optional(ids),
  cursor: began,
}).check(
  z.meta({
    id: 'LetterRedriveRequest',
    description:
      'All messages of the queue or, in the queues `rejected` and `given-up`, only those with these `ids`. A request with `ids` needs no cursor.',
  }),
);

const ALL = z
  .literal(true, { error: 'must be true: to delete only some messages, give their `ids` instead' })
  .check(z.meta({ description: 'Deletes all messages that were in the queue at the first request.' }));
const isDry = dryRun('If true, the call only says what it would delete.');

const DISCARD = oneOf(
  { ids: { ids, dryRun: isDry }, all: { all: ALL, cursor: began, dryRun: isDry } },
  'the body must have either `ids` or `"all": true`',
  { id: 'LetterDiscardRequest', description: 'Which messages to delete.' },
);

/** Messages on a page, by default and at most. The answer must fit into the 6 MB that Lambda allows. */
const LISTED = { usual: 20, most: 50 } as const;

export const QUEUE_CALLS = { listQueues: { on: 'GET /queues', right: 'read' } } satisfies Calls;

export const LETTER_CALLS = {
  listDeadLetters: { on: 'GET /dead-letters', right: 'read' },
  listDeadLetterMessages: {
    on: 'GET /dead-letters/:queue/messages',
    right: 'read',
    query: z.object({ limit: limit(LISTED.usual, LISTED.most) }),
  },
  redriveDeadLetters: { on: 'POST /dead-letters/:queue/redrive', right: 'operate', audit: 'redrive', body: REDRIVE },
  discardDeadLetters: { on: 'POST /dead-letters/:queue/discard', right: 'operate', audit: 'discard', body: DISCARD },
} satisfies Calls;
