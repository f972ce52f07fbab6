/** Requests of `/fan-outs`: the routes, and the schemas of their parameters and bodies. */
import * as z from 'zod/mini';
import {
  FAN_OUT_ID_PATTERN,
  FAN_OUT_ID_RULE,
  type FanOutId,
  fanOutId,
  ITEM_ID_RULE,
  ITEM_PATTERN,
} from '../../domain/fan-out-ids.ts';
import { TOLERATED_MAX, USER_KEY_MAX_BYTES } from '../../domain/fan-outs/fan-out.ts';
import type { ItemStatus } from '../../steps/fan-outs/items.ts';
import type { Calls } from '../shared/calls.ts';
import {
  configured,
  cursor,
  fields,
  flag,
  limit,
  list,
  NO_BODY,
  nameOf,
  paging,
  text,
  textOfBytes,
  token,
  whole,
  word,
} from '../shared/fields.ts';

/**
 * Maximum number of items that one call adds. They fill a thousand groups, which one request can write before its
 * timeout.
 */
const ADDED_MAX = 450_000;
/** Maximum number of items that one call acks. */
const ACKED_MAX = 1_000;
/**
 * The smallest share above 0. It is less than one item of the largest fan-out. DynamoDB stores no number below 1e-130.
 */
const LEAST_SHARE = 1e-12;

const SHARE_RULE = `must be 0, or a number from ${LEAST_SHARE} to 1`;
const isShare = (share: number): boolean => share <= 1 && (share === 0 || share >= LEAST_SHARE);

/**
 * The tolerated failures are a count or a share, but not both, because a count and a share could contradict each other.
 */
export const FAIL_FAST = z
  .union(
    [
      fields({
        count: whole('The fan-out completes when more than this number of items have failed.', 0, TOLERATED_MAX),
      }),
      fields({
        share: z.number({ error: SHARE_RULE }).check(
          z.refine(isShare, { error: SHARE_RULE }),
          z.meta({
            anyOf: [{ const: 0 }, { minimum: LEAST_SHARE }],
            minimum: 0,
            maximum: 1,
            description: 'The fan-out completes when more than this share of all items has failed.',
          }),
        ),
      }),
    ],
    { error: `must be {"count": 0 to ${TOLERATED_MAX}} or {"share": 0 to 1}: the failed items to tolerate` },
  )
  .check(
    z.meta({
      id: 'FailFast',
      description: 'The failed items to tolerate. The fan-out completes as soon as more have failed.',
    }),
  );

/** The body that opens a fan-out. All fields are optional. The API creates an id if the body has none. */
const OPENING = fields({
  id: z.optional(
    nameOf<FanOutId>(
      'The id of the fan-out, which also makes the call idempotent. The API creates an id if the field is left out.',
      FAN_OUT_ID_RULE,
      (value) => fanOutId(value) !== undefined,
      { pattern: FAN_OUT_ID_PATTERN },
    ),
  ),
  userKey: z.optional(
    textOfBytes(
      `A text of your choice, returned with the fan-out and its event, up to ${USER_KEY_MAX_BYTES} bytes.`,
      USER_KEY_MAX_BYTES,
    ),
  ),
  callback: configured(
    'destination',
    'The destination of the event about the end of the fan-out, instead of the configured destination.',
  ),
  failFast: z.optional(FAIL_FAST),
  notifyFirstFailure: z.optional(
    flag(
      'Whether an event `groupage.fan-out.first-failure` names a failed item as soon as one has failed. It goes to the destination of the end.',
      'must be true or false',
    ),
  ),
}).check(z.meta({ id: 'FanOutRequest' }));

const ITEMS = fields({ count: whole('Number of items to add.', 1, ADDED_MAX), token: token() }).check(
  z.meta({ id: 'AddItemsRequest' }),
);

const ITEM = text('The id of an item, `fanOutId:groupId:index`, with or without its token.', ITEM_ID_RULE, {
  pattern: ITEM_PATTERN,
});

/** An ack: the id of an item that succeeded, or an object with the id and the outcome of an item. */
const ACK = z.union(
  [
    ITEM,
    fields({
      item: ITEM,
      outcome: z.optional(
        word('The outcome', 'must be succeeded or failed', { succeeded: 'the default', failed: 'it failed' }),
      ),
    }).check(z.meta({ id: 'ItemAck' })),
  ],
  { error: ITEM_ID_RULE },
);

const ACKS = fields({
  items: list(
    ACK,
    'Finished items, of any fan-outs. An id alone means succeeded.',
    `must be a list of 1 to ${ACKED_MAX} items`,
    1,
    ACKED_MAX,
  ),
}).check(z.meta({ id: 'AckRequest' }));

/** A cursor: the number of the group at which the page begins, and the item's place in that group if it is not 0. */
const AT_ITEM = { pattern: /^(0|[1-9]\d{0,8})(\.[1-9]\d{0,3})?$/ };
/** Usual and maximum number of items of a page. A Lambda function answers with at most 6 MB. */
const [ITEMS_USUAL, ITEMS_MAX] = [1_000, 10_000];

const ITEM_STATUS = word<ItemStatus>('Which items to list', 'must be pending, succeeded or failed', {
  pending: 'items without an outcome, the default',
  succeeded: 'items that succeeded',
  failed: 'items that failed',
});
const AT = cursor('The `cursor` of the previous page.', AT_ITEM);

export const FAN_OUT_CALLS = {
  openFanOut: { on: 'POST /fan-outs', right: 'work', body: OPENING },
  listFanOuts: { on: 'GET /fan-outs', right: 'read', query: z.object(paging(20)) },
  getFanOut: { on: 'GET /fan-outs/:id', right: 'read' },
  listFailedItems: {
    on: 'GET /fan-outs/:id/failed',
    right: 'read',
    query: z.object({ cursor: AT }),
  },
  listItems: {
    on: 'GET /fan-outs/:id/items',
    right: 'read',
    query: z.object({ status: z.optional(ITEM_STATUS), limit: limit(ITEMS_USUAL, ITEMS_MAX), cursor: AT }),
  },
  deleteFanOut: { on: 'DELETE /fan-outs/:id', right: 'operate', audit: 'delete', body: NO_BODY },
  addItems: { on: 'POST /fan-outs/:id/items', right: 'work', body: ITEMS },
  sealFanOut: { on: 'POST /fan-outs/:id/seal', right: 'operate', body: NO_BODY },
  ackItems: { on: 'POST /fan-outs/acks', right: 'work', body: ACKS },
} satisfies Calls;
