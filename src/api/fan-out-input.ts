/** Reads what callers say of fan-outs; every problem of a body is named. */

import type { Config } from '../domain/config/resolved.ts';
import { FAN_OUT_ID_RULE, fanOutId, ITEM_ID_RULE, parseItemId } from '../domain/fan-out-ids.ts';
import { type NewFanOut, TOLERATED_MAX, USER_KEY_MAX_BYTES } from '../domain/fan-outs/fan-out.ts';
import type { Token } from '../domain/ids.ts';
import type { ItemAck } from '../steps/fan-outs/ack-items.ts';
import { isObject } from '../util/json-text.ts';
import type { Problem } from '../util/problems.ts';
import { callbackProblems, isWhole, textProblems, tokenProblems, unless } from './fields.ts';
import { badRequest, readObject, readOptionalObject, unknownFields } from './input.ts';

/** Items that one call adds at the most: a thousand groups, which are written in its time. */
export const ADDED_MAX = 450_000;
/** Items that one call acks at the most. */
export const ACKED_MAX = 1_000;
/** Of all items that a fan-out can have less than one; and DynamoDB has no numbers below 1e-130. */
export const LEAST_SHARE = 1e-12;

/** How somebody wants a fan-out to be; without an id it gets one. */
export type Opening = Partial<Omit<NewFanOut, 'createdAt'>>;

/** @param text the body; without one it is opened as it comes. @throws HttpProblem */
export const readOpening = (config: Config, text: string): Opening => {
  const body = readOptionalObject(text);
  const { id, userKey, callback, failFast } = body;
  const problems = [
    ...unknownFields(body, ['id', 'userKey', 'callback', 'failFast']),
    ...unless(id === undefined || fanOutId(id) !== undefined, 'id', FAN_OUT_ID_RULE),
    ...textProblems('userKey', userKey, USER_KEY_MAX_BYTES),
    ...callbackProblems(config, callback),
    ...(failFast === undefined ? [] : failFastProblems(failFast)),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return body as Opening;
};

/** @throws HttpProblem */
export const readAdd = (text: string): { readonly count: number; readonly token?: Token } => {
  const body = readObject(text);
  const { count, token } = body;
  const problems = [
    ...unknownFields(body, ['count', 'token']),
    ...unless(isWhole(count, 1, ADDED_MAX), 'count', `must be a whole number from 1 to ${ADDED_MAX}`),
    ...tokenProblems(token),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return body as { count: number; token?: Token };
};

/** @throws HttpProblem */
export const readAcks = (text: string): readonly ItemAck[] => {
  const body = readObject(text);
  const { items } = body;
  const isList = Array.isArray(items) && items.length > 0 && items.length <= ACKED_MAX;
  const read = isList ? items.map(readAck) : [];
  const problems = [
    ...unknownFields(body, ['items']),
    ...unless(isList, 'items', `must be a list of 1 to ${ACKED_MAX} items`),
    ...read.flatMap((ack, index) =>
      Array.isArray(ack)
        ? ack.map(({ path, reason }) => ({ path: `items[${index}]${path && `.${path}`}`, reason }))
        : [],
    ),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return read as readonly ItemAck[];
};

/** An item that succeeded, by its id, or how one ended. */
const readAck = (value: unknown): ItemAck | readonly Problem[] => {
  const isLong = isObject(value);
  const id = isLong ? value.item : value;
  const outcome = isLong && Object.hasOwn(value, 'outcome') ? value.outcome : 'succeeded';
  const item = parseItemId(id);
  const isOutcome = outcome === 'succeeded' || outcome === 'failed';
  const odd = isLong ? unknownFields(value, ['item', 'outcome']) : [];
  if (item && isOutcome && odd.length === 0) return { item, outcome };
  return [
    ...odd,
    ...unless(item !== undefined, isLong ? 'item' : '', ITEM_ID_RULE),
    ...unless(isOutcome, 'outcome', 'must be succeeded or failed'),
  ];
};

/** Either so many, or such a share: of both nobody would know which counts. */
const failFastProblems = (failFast: unknown): Problem[] => {
  const form = `must be {"count": 0 to ${TOLERATED_MAX}} or {"share": 0 to 1}: what is tolerated`;
  if (!isObject(failFast) || Object.keys(failFast).length !== 1) return [{ path: 'failFast', reason: form }];
  const { count, share } = failFast;
  if (count !== undefined)
    return unless(
      isWhole(count, 0, TOLERATED_MAX),
      'failFast.count',
      `must be a whole number from 0 to ${TOLERATED_MAX}`,
    );
  const isShare = typeof share === 'number' && share <= 1 && (share === 0 || share >= LEAST_SHARE);
  if (share !== undefined) return unless(isShare, 'failFast.share', `must be 0, or a number from ${LEAST_SHARE} to 1`);
  return [{ path: 'failFast', reason: form }];
};
