/** `/fan-outs`. */
import * as z from 'zod';
import { ACKED_MAX, ADDED_MAX, LEAST_SHARE } from '../../../src/api/fan-out-input.ts';
import { FAN_OUT_ID_PATTERN, ITEM_PATTERN } from '../../../src/domain/fan-out-ids.ts';
import {
  type EndReason,
  type FanOut,
  TOLERATED_MAX,
  USER_KEY_MAX_BYTES,
} from '../../../src/domain/fan-outs/fan-out.ts';
import { TOKEN_MAX } from '../../../src/domain/ids.ts';
import { flag, list, moment, onlyTrue, text, whole, word } from '../fields.ts';
import { CURSOR, NO_BODY, paging, type Route } from './route.ts';

/** Makes a call repeatable: the same token gets the same answer. */
export const TOKEN = text('Makes the call repeatable: the same token gets the same answer.', {
  minLength: 1,
  maxLength: TOKEN_MAX,
});

const FAIL_FAST = z
  .union([
    z.strictObject({ count: whole('More failed items than that.', 0, TOLERATED_MAX) }),
    z.strictObject({
      share: z.number().meta({
        anyOf: [{ const: 0 }, { minimum: LEAST_SHARE }],
        minimum: 0,
        maximum: 1,
        description: 'A larger share of all items than that.',
      }),
    }),
  ])
  .meta({ id: 'FailFast', description: 'When so many have failed the fan-out completes at once.' });

const OPENING = z
  .strictObject({
    id: text('Names it, and makes the call repeatable. Made up without one.', {
      pattern: FAN_OUT_ID_PATTERN,
    }).optional(),
    userKey: text(`Whatever tells you what it is about, up to ${USER_KEY_MAX_BYTES} bytes.`, {
      minLength: 1,
      maxLength: USER_KEY_MAX_BYTES,
    }).optional(),
    callback: text('The destination that is told of its end, instead of the configured one.').optional(),
    failFast: FAIL_FAST.optional(),
  })
  .meta({ id: 'FanOutRequest' });

const counts = {
  succeeded: whole('Items that succeeded; missing where they were not counted.'),
  failed: whole('Items that failed.'),
  pending: whole('Items that are not done; missing where they were not counted.'),
};
const outline = {
  id: text('Its id.'),
  status: word<Exclude<FanOut['status'], 'cancelled'>>('How far it is', {
    open: 'items may be added',
    sealed: 'nothing is added any more',
    complete: 'it has ended',
    expired: 'likewise, without its items being done',
  }),
  total: whole('Items that were added.'),
  countsAreAtLeast: onlyTrue('It is too large to be counted while it runs: more may have failed.').optional(),
  userKey: text('As its opener gave it.').optional(),
  callback: text('As its opener gave it.').optional(),
  failFast: FAIL_FAST.optional(),
  because: word<Exclude<EndReason, 'cancelled'>>('Why it ended', {
    'all-done': 'all items are done',
    'too-many-failed': 'more than `failFast` tolerates',
    idle: 'nothing happened for too long',
    deleted: 'somebody deleted it',
  }).optional(),
  createdAt: moment('When it was opened.'),
  endedAt: moment('When it ended.').optional(),
};
const FAN_OUT = z
  .object({ ...outline, ...counts, succeeded: counts.succeeded.optional(), pending: counts.pending.optional() })
  .meta({
    id: 'FanOut',
    description: 'A fan-out: N items, of which it is to be known exactly once that the last is done.',
  });
const FAN_OUT_OUTLINE = z
  .object(outline)
  .meta({ id: 'FanOutOutline', description: 'A fan-out, without what would have to be counted.' });

const ITEM = text('The id of an item, `fanOutId:groupId:index`.', { pattern: ITEM_PATTERN });
const ACKS = z
  .strictObject({
    items: list(
      z.union([
        ITEM,
        z
          .strictObject({
            item: ITEM,
            outcome: word<'succeeded' | 'failed'>('How it ended', {
              succeeded: 'also without this',
              failed: 'it did not',
            }).optional(),
          })
          .meta({ id: 'ItemAck' }),
      ]),
      'Items that are done, of any fan-outs. An id alone has succeeded.',
      1,
      ACKED_MAX,
    ),
  })
  .meta({ id: 'AckRequest' });

const NONE = 'It was never opened, or ended long ago.';

export const FAN_OUT_ROUTES: readonly Route[] = [
  {
    method: 'post',
    path: '/fan-outs',
    id: 'openFanOut',
    summary: 'Opens a fan-out',
    body: { schema: OPENING, optional: true, example: { id: '01KDVY3C5ZKQ', userKey: 'catalog-7' } },
    answers: {
      200: { description: 'It was there already, with the same fields.', schema: FAN_OUT },
      201: { description: 'It is open.', schema: FAN_OUT },
    },
    problems: { 409: 'It was there already, with others.' },
  },
  {
    method: 'get',
    path: '/fan-outs',
    id: 'listFanOuts',
    summary: 'Those under way, then those that ended',
    query: paging(20),
    answers: {
      200: {
        description: 'A page of them; it may be empty where there is a `cursor`.',
        schema: z
          .object({ fanOuts: list(FAN_OUT_OUTLINE, 'One may come twice.'), cursor: CURSOR })
          .meta({ id: 'FanOutPage' }),
      },
    },
  },
  {
    method: 'get',
    path: '/fan-outs/{id}',
    id: 'getFanOut',
    summary: 'How far a fan-out is',
    answers: { 200: { description: 'The fan-out.', schema: FAN_OUT } },
    problems: { 404: NONE },
  },
  {
    method: 'get',
    path: '/fan-outs/{id}/failed',
    id: 'listFailedItems',
    summary: 'Its failed items',
    query: { cursor: { schema: text('The `cursor` of the page before.') } },
    answers: {
      200: {
        description: 'A page of them; it may be empty where there is a `cursor`.',
        schema: z.object({ items: list(z.string(), 'Their ids.'), cursor: CURSOR }).meta({ id: 'FailedItems' }),
      },
    },
    problems: { 404: NONE },
  },
  {
    method: 'delete',
    path: '/fan-outs/{id}',
    id: 'deleteFanOut',
    summary: 'Ends it without an event',
    description: 'Twice is harmless.',
    answers: { 200: { description: 'The fan-out: `expired`, `deleted`.', schema: FAN_OUT } },
    problems: { 404: NONE, 409: 'The event of its end is on its way.' },
  },
  {
    method: 'post',
    path: '/fan-outs/{id}/items',
    id: 'addItems',
    summary: 'Adds items',
    description: 'Those of a group `{"id": g, "count": m}` are `ID:g:0` to `ID:g:(m-1)`.',
    body: {
      schema: z
        .strictObject({ count: whole('How many.', 1, ADDED_MAX), token: TOKEN.optional() })
        .meta({ id: 'AddItemsRequest' }),
      example: { count: 450, token: 'page-1' },
    },
    answers: {
      200: {
        description: 'The new items.',
        schema: z
          .object({
            groups: list(z.object({ id: whole("The group's number."), count: whole('Its items.', 1) }), 'In order.'),
          })
          .meta({ id: 'ItemsAdded' }),
        example: { groups: [{ id: 0, count: 450 }] },
      },
    },
    problems: {
      404: NONE,
      409: 'It is sealed or has ended, or the token stands for another count.',
      503: 'Too many add at once: try again.',
    },
  },
  {
    method: 'post',
    path: '/fan-outs/{id}/seal',
    id: 'sealFanOut',
    summary: 'Nothing is added any more',
    description: 'Again is harmless.',
    body: { schema: NO_BODY, optional: true },
    answers: {
      200: {
        description: 'It is sealed.',
        schema: z.object({ complete: flag('Whether it is complete.') }).meta({ id: 'Sealed' }),
        example: { complete: false },
      },
    },
    problems: { 404: NONE, 409: 'It has expired.' },
  },
  {
    method: 'post',
    path: '/fan-outs/acks',
    id: 'ackItems',
    summary: 'Items are done',
    description: 'In any order, and more than once: the first outcome stands.',
    body: { schema: ACKS, example: { items: ['01KDVY3C5ZKQ:0:17', { item: '01KDVY3C5ZKQ:0:18', outcome: 'failed' }] } },
    answers: {
      200: {
        description: 'As far as these acks showed it.',
        schema: z
          .object({
            fanOuts: list(
              z.object({
                id: text('Its id.'),
                complete: flag('Whether it is complete.'),
                userKey: text('Of one that is complete.').optional(),
              }),
              'Those that were acked of.',
            ),
            unknown: list(z.string(), 'Items that nobody knows (any more): nothing happened for them.'),
          })
          .meta({ id: 'Acked' }),
        example: { fanOuts: [{ id: '01KDVY3C5ZKQ', complete: false }], unknown: [] },
      },
    },
  },
];
