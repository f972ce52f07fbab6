/** Requests of `/batches`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import { KEY_RULE, keyOf } from '../../domain/merging/inputs.ts';
import { RESULT_MAX_BYTES } from '../../domain/tasks/task.ts';
import type { Calls } from '../shared/calls.ts';
import { configured, fields, paging, target, word } from '../shared/fields.ts';

const said = (description: string) => z.describe(description);

/** The error of an item. Any JSON is accepted and stored as text, but only these forms are interpreted. */
const ERROR = z.unknown().check(
  z.meta({
    id: 'ItemError',
    description: 'Why the item failed or is to be retried: a text, an object with these fields, or any other JSON.',
    forms: [
      z.string().check(said('The reason.')),
      z.object({
        code: z.optional(z.string().check(said('The kind of error; `failed` by default. Cut after 64 characters.'))),
        message: z.optional(z.string().check(said('The reason. Cut after 1,024 characters.'))),
        retriable: z.optional(z.boolean().check(said('Whether a redrive can help; false by default.'))),
      }),
      z.unknown().check(said('Stored as text.')),
    ],
  }),
);

const outcome = {
  status: word('The outcome', 'must be succeeded, failed, retry or throttled', {
    succeeded: 'the task succeeds',
    failed: 'the task fails and is not retried',
    retry: 'the task is retried after a delay',
    throttled: 'the same, but this uses no attempt of the task',
  }),
  result: z.optional(
    z.unknown().check(said(`With \`succeeded\`: any JSON, stored byte for byte up to ${RESULT_MAX_BYTES} bytes.`)),
  ),
  error: z.optional(ERROR),
};

const ELEMENT = { error: 'must be an object such as {"status": "succeeded", …}' };
const LIST = { error: 'must be a list; leave it out if all succeeded' };
const ID_RULE = 'must be the id of a task in this batch';

/** A list of item results. @param isItem returns whether an id belongs to an item of the call */
const itemsOf = (isItem: (id: string) => boolean) =>
  z.array(
    z
      .object(
        {
          id: z.string({ error: ID_RULE }).check(
            z.refine(isItem, { error: ID_RULE }),
            z.meta({
              description: 'The id of an item of the call. The API refuses other ids; elsewhere they are ignored.',
              examples: ['order-7'],
            }),
          ),
          ...outcome,
        },
        ELEMENT,
      )
      .check(
        z.meta({
          id: 'ItemResult',
          description: 'The outcome of an item. Only the first result of a task counts.',
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
          z.meta({
            description: 'The key of an input of the call.',
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
            examples: ['scene-1'],
          }),
        ),
        ...outcome,
      },
      ELEMENT,
    )
    .check(z.meta({ id: 'InputResult', description: 'The outcome of an input of a merged call.' })),
  LIST,
);

/** The results of items and the results of inputs, both for answers of downstreams and for reports of jobs. */
export const [ITEM_RESULTS, INPUT_RESULTS] = [itemsOf(() => true), INPUTS];

/** The fields of a job's report: results of items, or results of inputs. */
export const jobResults = (isItem: (id: string) => boolean = () => true) => ({
  results: z.optional(
    itemsOf(isItem).check(
      said('The results. If left out, all items of the job succeeded. Items missing from the list stay open.'),
    ),
  ),
  inputs: z.optional(
    INPUTS.check(
      said('For a merged job, instead of results; all in one message. Inputs missing from the list are retried.'),
    ),
  ),
});

export const completionOf = (isItem?: (id: string) => boolean) => {
  const { results, inputs } = jobResults(isItem);
  return fields({ results, inputs }).check(
    z.meta({
      id: 'JobCompletion',
      description: 'The report of a job of the batch in the path: results, or inputs.',
      forms: [z.strictObject({ results }), z.strictObject({ inputs })],
    }),
  );
};

const LISTED = z.object({
  target: z.optional(target('Only batches of this Target.')),
  operation: configured('operation', 'Only batches of this operation.'),
  which: z._default(
    word('Which batches', 'must be one of recent, under-way', {
      recent:
        'the newest batches. Without a `target`: of the next 20 Targets, at least three of each, but at most `limit`',
      'under-way':
        'unfinished batches that have had an attempt, or have been held for over 15 minutes; the one with the oldest task first',
    }),
    'recent',
  ),
  ...paging(20),
});
export type BatchesAsked = z.output<typeof LISTED>;

export const BATCH_CALLS = {
  listBatches: { on: 'GET /batches', right: 'read', query: LISTED },
  // The pattern matches slashes too, because a batch id contains slashes, and some gateways decode `%2F`.
  // It leaves out `/complete`, with which no batch id ends, so that a GET there answers 405.
  getBatch: { on: 'GET /batches/:id{.+(?<!/complete)}', right: 'read' },
  completeBatch: { on: 'POST /batches/:id{.+}/complete', right: 'operate', audit: 'complete', body: completionOf() },
} satisfies Calls;
