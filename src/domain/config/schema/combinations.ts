/**
 * Rules across several keys of an operation: each value is valid alone, but the combination is not. A key that is left
 * out has its default value, so the messages name the value.
 */
import type * as z from 'zod';
import { TARGET_MAX_BYTES } from '../../ids.ts';
import { MINUTE } from '../../timings.ts';
import { printDuration } from '../duration.ts';
import { type HttpTarget, ITEMS_MAX_BYTES } from '../endpoints.ts';
import { placesIn } from '../http-format.ts';
import { attemptTime } from '../resolved.ts';
import { type OperationShape, operationShape } from './operation.ts';
import { fault } from './rules.ts';

/** Lambda's maximum function timeout. */
const LAMBDA_MAX = 15 * MINUTE;
/** Defaults of batch.maxBytes and batch.maxWait. */
const MAX_BYTES = 900_000;
const MAX_WAIT = 1_000;

type Check = (operation: OperationShape, context: z.RefinementCtx) => void;

const checkTarget: Check = ({ target }, context) => {
  const bytes = target.reduce((sum, key) => sum + encodeURIComponent(key).length + '/='.length, 0);
  if (bytes >= TARGET_MAX_BYTES)
    fault(context, ['target'], `has names so long that no values fit: a Target has at most ${TARGET_MAX_BYTES} bytes`);
};

const checkSize: Check = ({ batch, bypass, downstream }, context) => {
  const { maxSize, minSize, quietPeriod, window } = batch;
  const most = ITEMS_MAX_BYTES[downstream.kind];
  const maxBytes = batch.maxBytes ?? Math.min(MAX_BYTES, most);
  if (maxBytes > most)
    fault(
      context,
      ['batch', 'maxBytes'],
      `must not be more than ${most}: a call of kind ${downstream.kind} cannot hold more`,
    );
  if (minSize > maxSize)
    fault(context, ['batch', 'minSize'], `must not be more than batch.maxSize (${maxSize}): no batch reaches it`);
  else if (minSize > 1 && quietPeriod === 0)
    fault(
      context,
      ['batch', 'minSize'],
      'has an effect only with batch.quietPeriod: set quietPeriod too, or leave minSize out',
    );
  else if (minSize > 1 && minSize === maxSize)
    fault(
      context,
      ['batch', 'minSize'],
      `must be less than batch.maxSize (${maxSize}): a full batch is sealed anyway, so batch.quietPeriod would have no effect`,
    );
  if (bypass && window === null)
    fault(context, ['bypass'], 'needs batch.window: a large task skips only the wait for a window');
  if (bypass && bypass.bytes > maxBytes)
    fault(context, ['bypass', 'bytes'], `must not be more than batch.maxBytes (${maxBytes}): no task is that large`);
};

const checkWait: Check = ({ batch }, context) => {
  const { quietPeriod, window, maxWait } = batch;
  if (window !== null && maxWait !== undefined)
    fault(
      context,
      ['batch', 'maxWait'],
      'cannot be combined with batch.window, which replaces it: leave one of the two out',
    );
  if (quietPeriod === 0) return;
  const wait = maxWait ?? MAX_WAIT;
  if (window !== null)
    fault(
      context,
      ['batch', 'quietPeriod'],
      'cannot be combined with batch.window, whose end is fixed: leave one of the two out',
    );
  else if (quietPeriod >= wait)
    fault(
      context,
      ['batch', 'quietPeriod'],
      `must be shorter than batch.maxWait (${printDuration(wait)}), which seals the batch anyway: lower quietPeriod or raise maxWait`,
    );
};

const checkCaps: Check = ({ merge, concurrency, shards }, context) => {
  const { perTarget, total } = concurrency;
  if (merge && perTarget !== null && perTarget !== 1)
    fault(
      context,
      ['concurrency', 'perTarget'],
      'must be 1 (or left out) with merge: two jobs at once would process the same keys twice',
    );
  else if (perTarget !== null && total !== null && perTarget > total)
    fault(
      context,
      ['concurrency', 'perTarget'],
      `must not be more than concurrency.total (${total}), which is reached first`,
    );
  if (shards === 1) return;
  if (merge) fault(context, ['shards'], 'must be 1 with merge: tasks with the same keys would be in different shards');
  else if (perTarget !== null)
    fault(context, ['shards'], 'must be 1 with concurrency.perTarget: the cap would apply to each shard separately');
};

const checkTimes: Check = ({ downstream, retry, keepTasks, batch, merge }, context) => {
  const { minDelay, maxDelay, maxAttempts, immediate } = retry;
  if (minDelay > maxDelay)
    fault(
      context,
      ['retry', 'minDelay'],
      `is ${printDuration(minDelay)}: it must not be longer than retry.maxDelay (${printDuration(maxDelay)})`,
    );
  const attempt = attemptTime(downstream.timeout, immediate);
  if (attempt > LAMBDA_MAX)
    fault(
      context,
      ['downstream', 'timeout'],
      `is too long for ${immediate + 1} calls in one invocation: timeout × (retry.immediate + 1) + 10 s must not exceed 15 minutes; lower timeout or retry.immediate`,
    );
  const deadline = downstream.kind === 'queue' ? 0 : downstream.deadline;
  const [longest, of] =
    deadline > attempt ? [deadline, 'downstream.deadline'] : [attempt, 'the duration of an attempt'];
  const least = maxAttempts * (maxDelay + longest);
  if (keepTasks < least)
    fault(
      context,
      ['keepTasks'],
      `must be at least ${printDuration(least)}, retry.maxAttempts × (retry.maxDelay + ${of}): otherwise results of the first attempts are deleted before the last attempt`,
    );
  const wait = batch.window ?? batch.maxWait ?? MAX_WAIT;
  if (merge && keepTasks < wait)
    fault(
      context,
      ['keepTasks'],
      `must be at least ${printDuration(wait)} with merge, the longest wait of a batch: otherwise finished keys are deleted before the next request for them`,
    );
};

const checkSignature: Check = ({ downstream }, context) => {
  if (downstream.kind === 'http' && !downstream.legacySignature && downstream.secret === null)
    fault(
      context,
      ['downstream', 'legacySignature'],
      'has an effect only with downstream.secret: without it, calls have no signature. Set secret too, or leave legacySignature out',
    );
};

const checkUrl: Check = ({ downstream, target }, context) => {
  if (downstream.kind !== 'http') return;
  const { url, auth } = downstream;
  if (!/[{}]/.test(url)) return;
  const { fields, isInPath } = placesIn(url);
  const at = ['downstream', 'url'];
  if (!isInPath)
    fault(context, at, 'may have braces only in its path, each around one grouping field: /batches/{carrier}');
  if (auth?.kind === 'sigv4')
    fault(
      context,
      at,
      'cannot have fields with an auth of kind sigv4, whose role may call one resource: write an operation for each path',
    );
  const unknown = fields.find((field) => !target.includes(field));
  if (unknown !== undefined)
    fault(
      context,
      at,
      `contains {${unknown}}, but "target" does not: add "${unknown}" to target, or use one of its fields`,
    );
};

const checkFormat: Check = ({ downstream, merge }, context) => {
  if (downstream.kind !== 'http') return;
  const { request, response, requireResults } = downstream;
  const own = request ? 'request' : 'response';
  if (merge && (request || response))
    fault(
      context,
      ['downstream', own],
      'cannot be combined with merge, because merged calls are always in the format of Groupage: remove one of the two',
    );
  if (response && requireResults !== null)
    fault(
      context,
      ['downstream', 'requireResults'],
      'has no meaning with downstream.response, which says what a success is',
    );
  if (response?.id && request && request.item.id === null)
    fault(
      context,
      ['downstream', 'response', 'id'],
      'needs downstream.request.item.id: otherwise the API does not know the ids of the tasks',
    );
};

/** The header that an authorization sets, in lower case. Null if it sets none. */
const headerOf = (auth: HttpTarget['auth']): string | null => {
  if (auth === null) return null;
  return auth.kind === 'api-key' ? (auth.header?.toLowerCase() ?? null) : 'authorization';
};

const checkAuth: Check = ({ downstream }, context) => {
  if (downstream.kind !== 'http') return;
  const header = headerOf(downstream.auth);
  const twice = Object.keys(downstream.headers).find((name) => name.toLowerCase() === header);
  if (twice !== undefined)
    fault(context, ['downstream', 'headers', twice], 'is set by downstream.auth too: leave one of the two out');
};

/** Reports every invalid combination of an operation's values. */
const checkTogether: Check = (operation, context) => {
  for (const check of [
    checkTarget,
    checkSize,
    checkWait,
    checkCaps,
    checkTimes,
    checkSignature,
    checkUrl,
    checkFormat,
    checkAuth,
  ])
    check(operation, context);
};

/** An operation with its derived defaults filled in. */
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
    // With merge, one job of a Target runs at a time, so that the next job can skip the inputs that it finished.
    concurrency: { ...concurrency, perTarget: rest.merge ? 1 : concurrency.perTarget },
  }));
