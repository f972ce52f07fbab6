/** Responses of `/fan-outs`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { EndReason, FanOut as StoredFanOut } from '../../domain/fan-outs/fan-out.ts';
import { CURSOR, describeCalls, flag, list, moment, onlyTrue, text, whole, word } from '../shared/answer-schemas.ts';
import { FAIL_FAST, FAN_OUT_CALLS } from './requests.ts';

const counts = {
  succeeded: whole('Number of items that succeeded. Missing if they were not counted.'),
  failed: whole('Number of items that failed.'),
  pending: whole('Number of items that have not ended. Missing if they were not counted.'),
};
const outline = {
  id: text('The id of the fan-out.'),
  status: word<Exclude<StoredFanOut['status'], 'cancelled'>>('Status of the fan-out', {
    open: 'items can be added',
    sealed: 'no more items can be added',
    complete: 'it has ended: all items are done, or too many failed',
    expired: 'it has ended without completing: it was idle for too long, or deleted',
  }),
  total: whole('Number of added items.'),
  countsAreAtLeast: z.optional(
    onlyTrue(
      'The fan-out is too large to be counted fully while it runs, or ended before its items were counted: more items may have failed.',
    ),
  ),
  userKey: z.optional(text('As given when the fan-out was opened.')),
  callback: z.optional(text('As given when the fan-out was opened.')),
  failFast: z.optional(FAIL_FAST),
  notifyFirstFailure: z.optional(onlyTrue('As given when the fan-out was opened.')),
  firstFailure: z.optional(text('The failed item that the event `groupage.fan-out.first-failure` names.')),
  allSucceededAt: z.optional(
    moment('When the last failed item had succeeded by a redrive, after the fan-out was complete.'),
  ),
  because: z.optional(
    word<Exclude<EndReason, 'cancelled'>>('Why the fan-out ended', {
      'all-done': 'all items are done',
      'too-many-failed': 'more items failed than `failFast` tolerates',
      idle: 'no item was added or acked for too long',
      deleted: 'a caller deleted it',
    }),
  ),
  createdAt: moment('When the fan-out was opened.'),
  endedAt: z.optional(moment('When the fan-out ended.')),
};
export const FAN_OUT = z
  .object({ ...outline, ...counts, succeeded: z.optional(counts.succeeded), pending: z.optional(counts.pending) })
  .check(
    z.meta({
      id: 'FanOut',
      description: 'A fan-out: a set of items, and one event when all of them are done.',
    }),
  );
export const FAN_OUT_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'FanOutOutline', description: 'A fan-out without its counts.' }));

const PAGE = z
  .object({ fanOuts: list(FAN_OUT_OUTLINE, 'The fan-outs. A fan-out may appear twice.'), cursor: CURSOR })
  .check(z.meta({ id: 'FanOutPage' }));
const FAILED_ITEMS = z
  .object({ items: list(z.string(), 'The ids of the failed items.'), cursor: CURSOR })
  .check(z.meta({ id: 'FailedItems' }));
export const ITEMS = z
  .object({ items: list(z.string(), 'The ids of the items, without their tokens.'), cursor: CURSOR })
  .check(z.meta({ id: 'FanOutItems' }));
export const ITEMS_ADDED = z
  .object({
    groups: list(
      z.object({ id: whole("The group's number."), count: whole('The number of its items.', 1) }),
      'The new groups of items, in order.',
    ),
    itemKey: z.optional(
      text(
        "The key of the items' tokens. Missing if an earlier release opened the fan-out. Give it only to programs that may acknowledge any item of the fan-out.",
      ),
    ),
  })
  .check(z.meta({ id: 'ItemsAdded' }));
export const SEALED = z.object({ complete: flag('Whether the fan-out is complete.') }).check(z.meta({ id: 'Sealed' }));
export const ACKED = z
  .object({
    fanOuts: list(
      z.object({
        id: text('The id of the fan-out.'),
        complete: flag('Whether the fan-out is complete.'),
        userKey: z.optional(text('The user key of the fan-out. Present only if the fan-out is complete.')),
      }),
      'The fan-outs whose items were acked.',
    ),
    unknown: list(z.string(), 'Items that do not exist, or no longer exist. They were ignored.'),
  })
  .check(z.meta({ id: 'Acked' }));

export type FanOut = z.infer<typeof FAN_OUT>;
export type FanOutOutline = z.infer<typeof FAN_OUT_OUTLINE>;
export type FanOutPage = z.infer<typeof PAGE>;

const NONE = 'The fan-out was never opened, or ended long ago.';

export const FAN_OUTS_DESCRIBED = describeCalls(FAN_OUT_CALLS, {
  openFanOut: {
    summary: 'Opens a fan-out',
    example: { id: '01KDVY3C5ZKQ', userKey: 'catalog-7' },
    answers: {
      200: { description: 'The fan-out already exists, with the same fields.', schema: FAN_OUT },
      201: { description: 'The fan-out was opened.', schema: FAN_OUT },
    },
    problems: { 409: 'The fan-out already exists, with other fields.' },
  },
  listFanOuts: {
    summary: 'Lists fan-outs: active ones first, then ended ones',
    answers: { 200: { description: 'A page of fan-outs. It may be empty and still have a `cursor`.', schema: PAGE } },
  },
  getFanOut: {
    summary: 'Gets a fan-out and its counts',
    answers: { 200: { description: 'The fan-out.', schema: FAN_OUT } },
    problems: { 404: NONE },
  },
  listFailedItems: {
    summary: 'Lists the failed items of a fan-out',
    answers: {
      200: { description: 'A page of item ids. It may be empty and still have a `cursor`.', schema: FAILED_ITEMS },
    },
    problems: { 404: NONE },
  },
  listItems: {
    summary: 'Lists the items of a fan-out by status',
    description:
      'Items appear when the call that adds them has stored them. The items of an expired fan-out are deleted.',
    answers: {
      200: { description: 'A page of item ids. It may be empty and still have a `cursor`.', schema: ITEMS },
    },
    problems: { 404: NONE },
  },
  deleteFanOut: {
    summary: 'Ends a fan-out without an event',
    description: 'A repeat changes nothing.',
    answers: { 200: { description: 'The fan-out, now `expired` because `deleted`.', schema: FAN_OUT } },
    problems: { 404: NONE, 409: 'The event of its end is being sent.' },
  },
  addItems: {
    summary: 'Adds items to a fan-out',
    description:
      'The items of a group `{"id": g, "count": m}` are `ID:g:0` to `ID:g:(m-1)`. In a register message, an item needs its token, `ID:g:0:TOKEN`: HMAC-SHA256 of `ID:g:0` with the text `itemKey` as the key, as base64url, cut to 22 characters.',
    example: { count: 450, token: 'page-1' },
    answers: {
      200: {
        description: 'The groups of the new items.',
        schema: ITEMS_ADDED,
        example: { groups: [{ id: 0, count: 450 }], itemKey: 'q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k' },
      },
    },
    problems: {
      404: NONE,
      409: 'The fan-out is sealed or has ended, or the token was used with another count.',
      503: 'Too many callers add items at once: try again.',
    },
  },
  sealFanOut: {
    summary: 'Seals a fan-out: no more items can be added',
    description: 'A repeat changes nothing.',
    answers: { 200: { description: 'The fan-out is sealed.', schema: SEALED, example: { complete: false } } },
    problems: { 404: NONE, 409: 'The fan-out has expired.' },
  },
  ackItems: {
    summary: 'Acks finished items',
    description: 'Acks may come in any order and more than once. Only the first outcome of an item counts.',
    example: { items: ['01KDVY3C5ZKQ:0:17', { item: '01KDVY3C5ZKQ:0:18', outcome: 'failed' }] },
    answers: {
      200: {
        description: 'The fan-outs and the unknown items. `complete` reflects what these acks could see.',
        schema: ACKED,
        example: { fanOuts: [{ id: '01KDVY3C5ZKQ', complete: false }], unknown: [] },
      },
    },
  },
});
