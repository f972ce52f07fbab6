/**
 * What cannot go together in an operation: each value is right by itself, and the whole cannot be meant. A value that is
 * left out counts with its default, so the sentences say how much it is.
 */
import type * as z from 'zod';
import { TARGET_MAX_BYTES } from '../../ids.ts';
import { MINUTE } from '../../timings.ts';
import { printDuration } from '../duration.ts';
import { ITEMS_MAX_BYTES } from '../endpoints.ts';
import { attemptTime } from '../resolved.ts';
import { type OperationShape, operationShape } from './operation.ts';
import { fault } from './rules.ts';

/** Lambda ends any function after this long. */
const LAMBDA_MAX = 15 * MINUTE;
/** What batch.maxBytes and batch.maxWait are where nothing is said. */
const MAX_BYTES = 900_000;
const MAX_WAIT = 1_000;

type Check = (operation: OperationShape, context: z.RefinementCtx) => void;

const checkTarget: Check = ({ target }, context) => {
  const bytes = target.reduce((sum, key) => sum + encodeURIComponent(key).length + '/='.length, 0);
  if (bytes >= TARGET_MAX_BYTES)
    fault(context, ['target'], `leaves no room for values: a Target has at most ${TARGET_MAX_BYTES} bytes`);
};

const checkSize: Check = ({ batch, bypass, downstream }, context) => {
  const { maxSize, minSize, quietPeriod, window } = batch;
  const most = ITEMS_MAX_BYTES[downstream.kind];
  const maxBytes = batch.maxBytes ?? Math.min(MAX_BYTES, most);
  if (maxBytes > most)
    fault(
      context,
      ['batch', 'maxBytes'],
      `must not be more than ${most}: a call of kind ${downstream.kind} has room for no more`,
    );
  if (minSize > maxSize)
    fault(context, ['batch', 'minSize'], `must not be more than batch.maxSize (${maxSize}): no batch gets there`);
  else if (minSize > 1 && quietPeriod === 0)
    fault(
      context,
      ['batch', 'minSize'],
      'only matters with batch.quietPeriod, since quiet alone does not seal below it: set that, or leave this out',
    );
  else if (minSize > 1 && minSize === maxSize)
    fault(
      context,
      ['batch', 'minSize'],
      `must be less than batch.maxSize (${maxSize}): what is full is sealed anyway, so quiet would seal nothing`,
    );
  if (bypass && window === null)
    fault(context, ['bypass'], 'needs batch.window: there is nothing else that a large request could skip');
  if (bypass && bypass.bytes > maxBytes)
    fault(context, ['bypass', 'bytes'], `must not be more than batch.maxBytes (${maxBytes}): no request is that large`);
};

const checkWait: Check = ({ batch }, context) => {
  const { quietPeriod, window, maxWait } = batch;
  if (window !== null && maxWait !== undefined)
    fault(context, ['batch', 'maxWait'], 'is replaced by batch.window: leave one of them out');
  if (quietPeriod === 0) return;
  const wait = maxWait ?? MAX_WAIT;
  if (window !== null)
    fault(
      context,
      ['batch', 'quietPeriod'],
      'does not go with batch.window, which ends when it ends: leave one of them out',
    );
  else if (quietPeriod >= wait)
    fault(
      context,
      ['batch', 'quietPeriod'],
      `must be shorter than batch.maxWait (${printDuration(wait)}), which ends the wait anyway: lower this or raise that`,
    );
};

const checkCaps: Check = ({ merge, concurrency, shards }, context) => {
  const { perTarget, total } = concurrency;
  if (merge && perTarget !== null && perTarget !== 1)
    fault(
      context,
      ['concurrency', 'perTarget'],
      'must be 1 (or left out) with merge: two jobs at once would do the same keys twice',
    );
  else if (perTarget !== null && total !== null && perTarget > total)
    fault(
      context,
      ['concurrency', 'perTarget'],
      `must not be more than concurrency.total (${total}), which is reached before`,
    );
  if (shards === 1) return;
  if (merge) fault(context, ['shards'], 'must be 1 with merge: requests with the same keys would not meet');
  else if (perTarget !== null)
    fault(context, ['shards'], 'must be 1 with concurrency.perTarget: each shard would have the cap for itself');
};

const checkTimes: Check = ({ downstream, retry, keepTasks, batch, merge }, context) => {
  const { minDelay, maxDelay, maxAttempts, immediate } = retry;
  if (minDelay > maxDelay)
    fault(
      context,
      ['retry', 'minDelay'],
      `is ${printDuration(minDelay)}, and must not be longer than retry.maxDelay (${printDuration(maxDelay)})`,
    );
  const attempt = attemptTime(downstream.timeout, immediate);
  if (attempt > LAMBDA_MAX)
    fault(
      context,
      ['downstream', 'timeout'],
      `is too long for ${immediate + 1} calls in one function: timeout × (retry.immediate + 1) + 10 s must stay within 15 minutes; lower one of them`,
    );
  const deadline = downstream.kind === 'queue' ? 0 : downstream.deadline;
  const [longest, of] = deadline > attempt ? [deadline, 'downstream.deadline'] : [attempt, 'the time of an attempt'];
  const least = maxAttempts * (maxDelay + longest);
  if (keepTasks < least)
    fault(
      context,
      ['keepTasks'],
      `must be at least ${printDuration(least)}, retry.maxAttempts × (retry.maxDelay + ${of}): a batch must not outlive the results of its first attempts`,
    );
  const wait = batch.window ?? batch.maxWait ?? MAX_WAIT;
  if (merge && keepTasks < wait)
    fault(
      context,
      ['keepTasks'],
      `must be at least ${printDuration(wait)}, what a batch waits, with merge: keys that were done would be forgotten before they are asked for again`,
    );
};

/** Every fault of how an operation's values go together. */
const checkTogether: Check = (operation, context) => {
  for (const check of [checkTarget, checkSize, checkWait, checkCaps, checkTimes]) check(operation, context);
};

/** With what follows from its values filled in. */
export const operationSchema = operationShape
  .superRefine(checkTogether)
  .transform(({ batch, bypass, concurrency, downstream, ...rest }) => ({
    ...rest,
    downstream: downstream.kind === 'queue' ? { ...downstream, deadline: downstream.timeout } : downstream,
    batch: {
      ...batch,
      maxBytes: batch.maxBytes ?? Math.min(MAX_BYTES, ITEMS_MAX_BYTES[downstream.kind]),
      maxWait: batch.window ?? batch.maxWait ?? MAX_WAIT,
      bypass: bypass?.bytes ?? null,
    },
    // Merging runs one job of a Target at a time: what one has done the next one need not do.
    concurrency: { ...concurrency, perTarget: rest.merge ? 1 : concurrency.perTarget },
  }));
