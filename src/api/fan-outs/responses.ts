/** Responses of `/fan-outs`: their schemas, and their descriptions in the OpenAPI document. */
import * as z from 'zod/mini';
import type { EndReason, FanOut as StoredFanOut } from '../../domain/fan-outs/fan-out.ts';
import { CURSOR, describeCalls, flag, list, moment, onlyTrue, text, whole, word } from '../shared/answer-schemas.ts';
import { FAIL_FAST, FAN_OUT_CALLS } from './requests.ts';

const counts = {
  succeeded: whole('Items that succeeded; missing where they were not counted.'),
  failed: whole('Items that failed.'),
  pending: whole('Items that are not done; missing where they were not counted.'),
};
const outline = {
  id: text('Its id.'),
  status: word<Exclude<StoredFanOut['status'], 'cancelled'>>('How far it is', {
    open: 'items may be added',
    sealed: 'nothing is added any more',
    complete: 'it has ended',
    expired: 'likewise, without its items being done',
  }),
  total: whole('Items that were added.'),
  countsAreAtLeast: z.optional(onlyTrue('It is too large to be counted while it runs: more may have failed.')),
  userKey: z.optional(text('As its opener gave it.')),
  callback: z.optional(text('As its opener gave it.')),
  failFast: z.optional(FAIL_FAST),
  because: z.optional(
    word<Exclude<EndReason, 'cancelled'>>('Why it ended', {
      'all-done': 'all items are done',
      'too-many-failed': 'more than `failFast` tolerates',
      idle: 'nothing happened for too long',
      deleted: 'somebody deleted it',
    }),
  ),
  createdAt: moment('When it was opened.'),
  endedAt: z.optional(moment('When it ended.')),
};
export const FAN_OUT = z
  .object({ ...outline, ...counts, succeeded: z.optional(counts.succeeded), pending: z.optional(counts.pending) })
  .check(
    z.meta({
      id: 'FanOut',
      description: 'A fan-out: N items, of which it is to be known exactly once that the last is done.',
    }),
  );
export const FAN_OUT_OUTLINE = z
  .object(outline)
  .check(z.meta({ id: 'FanOutOutline', description: 'A fan-out, without what would have to be counted.' }));

const PAGE = z
  .object({ fanOuts: list(FAN_OUT_OUTLINE, 'One may come twice.'), cursor: CURSOR })
  .check(z.meta({ id: 'FanOutPage' }));
export const FAILED_ITEMS = z
  .object({ items: list(z.string(), 'Their ids.'), cursor: CURSOR })
  .check(z.meta({ id: 'FailedItems' }));
export const ITEMS_ADDED = z
  .object({
    groups: list(z.object({ id: whole("The group's number."), count: whole('Its items.', 1) }), 'In order.'),
  })
  .check(z.meta({ id: 'ItemsAdded' }));
export const SEALED = z.object({ complete: flag('Whether it is complete.') }).check(z.meta({ id: 'Sealed' }));
export const ACKED = z
  .object({
    fanOuts: list(
      z.object({
        id: text('Its id.'),
        complete: flag('Whether it is complete.'),
        userKey: z.optional(text('Of one that is complete.')),
      }),
      'Those that were acked of.',
    ),
    unknown: list(z.string(), 'Items that nobody knows (any more): nothing happened for them.'),
  })
  .check(z.meta({ id: 'Acked' }));

export type FanOut = z.infer<typeof FAN_OUT>;
export type FanOutOutline = z.infer<typeof FAN_OUT_OUTLINE>;
export type FanOutPage = z.infer<typeof PAGE>;

const NONE = 'It was never opened, or ended long ago.';

export const FAN_OUTS_DESCRIBED = describeCalls(FAN_OUT_CALLS, {
  openFanOut: {
    summary: 'Opens a fan-out',
    example: { id: '01KDVY3C5ZKQ', userKey: 'catalog-7' },
    answers: {
      200: { description: 'It was there already, with the same fields.', schema: FAN_OUT },
      201: { description: 'It is open.', schema: FAN_OUT },
    },
    problems: { 409: 'It was there already, with others.' },
  },
  listFanOuts: {
    summary: 'Those under way, then those that ended',
    answers: { 200: { description: 'A page of them; it may be empty where there is a `cursor`.', schema: PAGE } },
  },
  getFanOut: {
    summary: 'How far a fan-out is',
    answers: { 200: { description: 'The fan-out.', schema: FAN_OUT } },
    problems: { 404: NONE },
  },
  listFailedItems: {
    summary: 'Its failed items',
    answers: {
      200: { description: 'A page of them; it may be empty where there is a `cursor`.', schema: FAILED_ITEMS },
    },
    problems: { 404: NONE },
  },
  deleteFanOut: {
    summary: 'Ends it without an event',
    description: 'Twice is harmless.',
    answers: { 200: { description: 'The fan-out: `expired`, `deleted`.', schema: FAN_OUT } },
    problems: { 404: NONE, 409: 'The event of its end is on its way.' },
  },
  addItems: {
    summary: 'Adds items',
    description: 'Those of a group `{"id": g, "count": m}` are `ID:g:0` to `ID:g:(m-1)`.',
    example: { count: 450, token: 'page-1' },
    answers: {
      200: { description: 'The new items.', schema: ITEMS_ADDED, example: { groups: [{ id: 0, count: 450 }] } },
    },
    problems: {
      404: NONE,
      409: 'It is sealed or has ended, or the token stands for another count.',
      503: 'Too many add at once: try again.',
    },
  },
  sealFanOut: {
    summary: 'Nothing is added any more',
    description: 'Again is harmless.',
    answers: { 200: { description: 'It is sealed.', schema: SEALED, example: { complete: false } } },
    problems: { 404: NONE, 409: 'It has expired.' },
  },
  ackItems: {
    summary: 'Items are done',
    description: 'In any order, and more than once: the first outcome stands.',
    example: { items: ['01KDVY3C5ZKQ:0:17', { item: '01KDVY3C5ZKQ:0:18', outcome: 'failed' }] },
    answers: {
      200: {
        description: 'As far as these acks showed it.',
        schema: ACKED,
        example: { fanOuts: [{ id: '01KDVY3C5ZKQ', complete: false }], unknown: [] },
      },
    },
  },
});
