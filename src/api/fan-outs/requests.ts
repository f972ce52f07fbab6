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
import type { Calls } from '../shared/calls.ts';
import {
  configured,
  cursor,
  fields,
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

/** Items that one call adds at the most: a thousand groups, which are written in its time. */
const ADDED_MAX = 450_000;
/** Items that one call acks at the most. */
const ACKED_MAX = 1_000;
/** Of all items that a fan-out can have less than one; and DynamoDB has no numbers below 1e-130. */
const LEAST_SHARE = 1e-12;

const SHARE_RULE = `must be 0, or a number from ${LEAST_SHARE} to 1`;
const isShare = (share: number): boolean => share <= 1 && (share === 0 || share >= LEAST_SHARE);

/** Either so many, or such a share: of both nobody would know which counts. */
export const FAIL_FAST = z
  .union(
    [
      fields({ count: whole('More failed items than that.', 0, TOLERATED_MAX) }),
      fields({
        share: z.number({ error: SHARE_RULE }).check(
          z.refine(isShare, { error: SHARE_RULE }),
          z.meta({
            anyOf: [{ const: 0 }, { minimum: LEAST_SHARE }],
            minimum: 0,
            maximum: 1,
            description: 'A larger share of all items than that.',
          }),
        ),
      }),
    ],
    { error: `must be {"count": 0 to ${TOLERATED_MAX}} or {"share": 0 to 1}: what is tolerated` },
  )
  .check(z.meta({ id: 'FailFast', description: 'When so many have failed the fan-out completes at once.' }));

/** Without a body it is opened as it comes; without an id it gets one. */
const OPENING = fields({
  id: z.optional(
    nameOf<FanOutId>(
      'Names it, and makes the call repeatable. Made up without one.',
      FAN_OUT_ID_RULE,
      (value) => fanOutId(value) !== undefined,
      { pattern: FAN_OUT_ID_PATTERN },
    ),
  ),
  userKey: z.optional(
    textOfBytes(`Whatever tells you what it is about, up to ${USER_KEY_MAX_BYTES} bytes.`, USER_KEY_MAX_BYTES),
  ),
  callback: configured('destination', 'The destination that is told of its end, instead of the configured one.'),
  failFast: z.optional(FAIL_FAST),
}).check(z.meta({ id: 'FanOutRequest' }));

const ITEMS = fields({ count: whole('How many.', 1, ADDED_MAX), token: token() }).check(
  z.meta({ id: 'AddItemsRequest' }),
);

const ITEM = text('The id of an item, `fanOutId:groupId:index`.', ITEM_ID_RULE, { pattern: ITEM_PATTERN });

/** An item that succeeded, by its id, or how one ended. */
const ACK = z.union(
  [
    ITEM,
    fields({
      item: ITEM,
      outcome: z.optional(
        word('How it ended', 'must be succeeded or failed', { succeeded: 'also without this', failed: 'it did not' }),
      ),
    }).check(z.meta({ id: 'ItemAck' })),
  ],
  { error: ITEM_ID_RULE },
);

const ACKS = fields({
  items: list(
    ACK,
    'Items that are done, of any fan-outs. An id alone has succeeded.',
    `must be a list of 1 to ${ACKED_MAX} items`,
    1,
    ACKED_MAX,
  ),
}).check(z.meta({ id: 'AckRequest' }));

/** The group with which a list goes on. */
const AT_GROUP = { pattern: /^(0|[1-9]\d{0,8})$/ };

export const FAN_OUT_CALLS = {
  openFanOut: { on: 'POST /fan-outs', body: OPENING },
  listFanOuts: { on: 'GET /fan-outs', query: z.object(paging(20)) },
  getFanOut: { on: 'GET /fan-outs/:id' },
  listFailedItems: {
    on: 'GET /fan-outs/:id/failed',
    query: z.object({ cursor: cursor('The `cursor` of the page before.', AT_GROUP) }),
  },
  deleteFanOut: { on: 'DELETE /fan-outs/:id', body: NO_BODY },
  addItems: { on: 'POST /fan-outs/:id/items', body: ITEMS },
  sealFanOut: { on: 'POST /fan-outs/:id/seal', body: NO_BODY },
  ackItems: { on: 'POST /fan-outs/acks', body: ACKS },
} satisfies Calls;
