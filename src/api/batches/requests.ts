/** Requests of `/batches`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { KEY_RULE, keyOf } from '../../domain/merging/inputs.ts';
import { RESULT_MAX_BYTES } from '../../domain/tasks/task.ts';
import type { Calls } from '../shared/calls.ts';
import { fields, paging, target, word } from '../shared/fields.ts';

const said = (description: string) => z.describe(description);

/** Whatever is written there is kept as it was written: the forms are those that are understood. */
const ERROR = z.unknown().check(
  z.meta({
    id: 'ItemError',
    description: 'Why it failed, or is to be tried again. Anything else is kept as it was written.',
    forms: [
      z.string().check(said('Why, in words.')),
      z.object({
        code: z.optional(
          z.string().check(said('A word to tell causes apart; `failed` without one. Cut after 64 characters.')),
        ),
        message: z.optional(z.string().check(said('Why, in words. Cut after 1,024 characters.'))),
        retriable: z.optional(z.boolean().check(said('Whether a redrive can help; false without it.'))),
      }),
    ],
  }),
);

const outcome = {
  status: word('How it ended', 'must be succeeded, failed or retry', {
    succeeded: 'done',
    failed: 'it never will be: the task fails',
    retry: 'it is to be asked about again, after a delay',
  }),
  result: z.optional(
    z.unknown().check(said(`Of one that succeeded: any JSON, kept to the letter up to ${RESULT_MAX_BYTES} bytes.`)),
  ),
  error: z.optional(ERROR),
};

const ELEMENT = { error: 'must be an object such as {"status": "succeeded", …}' };
const LIST = { error: 'must be a list; leave it out if all have succeeded' };
const ID_RULE = 'must be that of a task in this batch';

/** How items ended. @param isItem whether an id is that of one */
const itemsOf = (isItem: (id: string) => boolean) =>
  z.array(
    z
      .object(
        {
          id: z
            .string({ error: ID_RULE })
            .check(
              z.refine(isItem, { error: ID_RULE }),
              said('The id of an item of the call; others are passed over.'),
            ),
          ...outcome,
        },
        ELEMENT,
      )
      .check(
        z.meta({
          id: 'ItemResult',
          description: 'What became of an item. The first result of a task stands.',
        }),
      ),
    LIST,
  );

const INPUTS = z.array(
  z
    .object(
      {
        key: z.union([z.string(), z.number()], { error: KEY_RULE }).check(
          z.refine((key) => keyOf(key) !== undefined, { error: KEY_RULE }),
          said('The key of an input of the call.'),
        ),
        ...outcome,
      },
      ELEMENT,
    )
    .check(z.meta({ id: 'InputResult', description: 'What became of an input of a merged call.' })),
  LIST,
);

/** How items and inputs end, wherever a downstream says it. */
export const [ITEM_RESULTS, INPUT_RESULTS] = [itemsOf(() => true), INPUTS];

/** What a job reports of a batch: its results, or its inputs. */
export const jobResults = (isItem: (id: string) => boolean = () => true) => ({
  results: z.optional(
    itemsOf(isItem).check(said('Without them all that the job had succeeded. Items that are left out stay open.')),
  ),
  inputs: z.optional(
    INPUTS.check(
      said('Of a merged job, instead of results, all in one message: those that are left out are tried again.'),
    ),
  ),
});

export const completionOf = (isItem?: (id: string) => boolean) =>
  fields(jobResults(isItem)).check(
    z.meta({
      id: 'JobCompletion',
      description: 'How a job ended, of the batch in the path: its results, or its inputs.',
    }),
  );

export const BATCH_CALLS = {
  listBatches: { on: 'GET /batches', query: z.object({ target: target(), ...paging(20) }) },
  // An id has slashes, and some gateways decode them.
  getBatch: { on: 'GET /batches/:id{.+}' },
  completeBatch: { on: 'POST /batches/:id{.+}/complete', body: completionOf() },
} satisfies Calls;
