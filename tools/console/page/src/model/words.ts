/** Texts and tones for the codes of the API. Each tone has its own shape. Pure. */

import type { BatchOutline } from '../../../../../src/api/batches/responses.ts';
import type { FanOut } from '../../../../../src/api/fan-outs/responses.ts';
import type { List } from '../../../../../src/api/lists/responses.ts';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import type { Totals } from '../../../server/shapes.ts';
import { count, duration, plural } from '../base/format.ts';

/** Each tone has a colour and a shape, so that either is enough to distinguish the tones. */
export type Tone = 'ok' | 'bad' | 'warn' | 'busy' | 'idle';

export interface State {
  readonly tone: Tone;
  readonly word: string;
}

/** Maps a status to its text and tone. An unknown status, from a later version of the API, is shown unchanged. */
const statesOf =
  (states: Readonly<Record<string, State>>) =>
  (status: string): State =>
    states[status] ?? { tone: 'idle', word: status };

const SEALED_BY: Readonly<Record<string, string>> = {
  full: 'it reached the maximum number of tasks',
  bytes: 'another task would have exceeded the maximum size',
  weight: 'another task would have exceeded the maximum weight',
  waited: 'its oldest task had waited for maxWait, or its time window ended',
  quiet: 'no other task arrived within the quiet period',
  bypass: 'its task is sent alone: the task is large, or may have made an earlier batch fail',
  flush: 'a user flushed its Target',
};

/** The reason why a batch was sealed. The text completes "sealed because …". */
export const sealedBecause = (sealedBy: string): string => SEALED_BY[sealedBy] ?? sealedBy;

export const taskState = statesOf({
  created: { tone: 'idle', word: 'waiting' },
  batched: { tone: 'busy', word: 'in a batch' },
  'in-progress': { tone: 'busy', word: 'in progress' },
  succeeded: { tone: 'ok', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
});

export const batchState = statesOf({
  forming: { tone: 'idle', word: 'forming' },
  sealed: { tone: 'idle', word: 'sealed' },
  'in-progress': { tone: 'busy', word: 'in progress' },
  succeeded: { tone: 'ok', word: 'succeeded' },
  'partly-failed': { tone: 'warn', word: 'partly failed' },
  failed: { tone: 'bad', word: 'failed' },
});

/** The state of a batch. A batch between two attempts is not just "in progress". */
export const batchStateOf = ({ status, lastAttempt, pending }: BatchOutline): State => {
  if (status === 'in-progress' && pending) return { tone: 'busy', word: 'job runs' };
  return status === 'in-progress' && lastAttempt ? { tone: 'warn', word: 'retrying' } : batchState(status);
};

/** Maps the status of a fan-out or a list to its text and tone. */
export const trackerState = statesOf({
  open: { tone: 'busy', word: 'open' },
  sealed: { tone: 'busy', word: 'sealed' },
  complete: { tone: 'ok', word: 'complete' },
  expired: { tone: 'warn', word: 'expired' },
  cancelled: { tone: 'warn', word: 'cancelled' },
});

/** The same for one that may have completed with failures. */
export const endState = (status: string, hasFailures: boolean): State =>
  status === 'complete' && hasFailures ? { tone: 'warn', word: 'complete, with failures' } : trackerState(status);

export const nodeState = statesOf({
  working: { tone: 'ok', word: 'working' },
  draining: { tone: 'warn', word: 'draining' },
  leaving: { tone: 'warn', word: 'leaving' },
  restarting: { tone: 'warn', word: 'restarting' },
  evicted: { tone: 'bad', word: 'evicted' },
});

export const jobState = statesOf({
  waiting: { tone: 'idle', word: 'waiting' },
  leased: { tone: 'busy', word: 'claimed' },
  started: { tone: 'busy', word: 'started' },
  succeeded: { tone: 'ok', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
});

export const claimState = statesOf({
  running: { tone: 'busy', word: 'reserved' },
  ended: { tone: 'warn', word: 'lease ended' },
  available: { tone: 'idle', word: 'others can claim' },
});

export const auditState = statesOf({
  done: { tone: 'ok', word: 'done' },
  refused: { tone: 'warn', word: 'refused' },
  failed: { tone: 'bad', word: 'failed' },
  unknown: { tone: 'idle', word: 'unknown' },
});

const BECAUSE: Readonly<Record<string, string>> = {
  'all-done': 'all of its items are done',
  'too-many-failed': 'too many of its items failed',
  idle: 'no item was added or acked for too long',
  deleted: 'a user deleted it',
};

/** The reason why a fan-out ended. The text completes "because …". */
export const endedBecause = (because: string): string => BECAUSE[because] ?? because;

const ERRORS: Readonly<Record<string, string>> = {
  'attempts-exhausted': 'all counted attempts failed',
  refused: 'the downstream refused the call',
  'answer-too-large': 'the downstream may have done the work, but its answer was too large to be read',
  failed: 'the downstream reported a failure without a code',
  'inputs-unreadable': 'it was registered before its operation used merge, and its payload has no inputs at merge.keys',
  'payload-lost': 'its payload was no longer stored',
  expired: 'no batch claimed it in time',
  cancelled: 'a user cancelled it',
};

/** The meaning of an error code. Undefined for a downstream's own code. */
export const errorMeans = (code: string): string | undefined => ERRORS[code];

/**
 * Time within which the message that elects a leader normally arrives, in milliseconds. A longer wait is shown as "no
 * leader".
 */
const ON_ITS_WAY = 20_000;

/** The current state of a Target, in one or two words. */
export const targetState = (
  { paused, openBatch, blocked, waitsForLimit, waiting, oldestAt, leader, inFlight, underWay }: Target,
  now: number,
): State => {
  if (paused) return { tone: 'warn', word: 'paused' };
  if (openBatch) return { tone: 'busy', word: 'sealing' };
  if (underWay && underWay.retried > 0) return { tone: 'warn', word: 'retrying' };
  if (blocked) return { tone: 'warn', word: 'blocked' };
  if (waitsForLimit) return { tone: 'busy', word: 'at a limit' };
  if (waiting > 0 && leader && Date.parse(leader.lockedUntil) >= now) return { tone: 'busy', word: 'filling' };
  if (waiting > 0)
    return now - Date.parse(oldestAt ?? '') > ON_ITS_WAY
      ? { tone: 'warn', word: 'no leader' }
      : { tone: 'busy', word: 'waiting' };
  if (underWay && underWay.pending > 0) return { tone: 'busy', word: 'job runs' };
  return underWay || (inFlight && inFlight.length > 0)
    ? { tone: 'busy', word: 'in batches' }
    : { tone: 'idle', word: 'idle' };
};

/** The progress of a fan-out, as a text. */
export const fanOutWords = ({ total, succeeded, failed, pending, status }: FanOut): string => {
  if (total === 0) return status === 'open' ? 'no items yet' : 'no items';
  if (succeeded === undefined || pending === undefined)
    return `${count(failed)} failed; the other items are not counted`;
  return [
    `${count(succeeded)} succeeded`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    `${count(pending)} pending`,
  ].join(', ');
};

/** The progress of a list, as a text. */
export const listWords = ({ total, available, leased, started, done, failed }: List): string => {
  if (total === 0) return 'no jobs yet';
  const parts: readonly (readonly [number | undefined, string])[] = [
    [done, 'done'],
    [failed, 'of them failed'],
    [started, 'started'],
    [leased, 'claimed'],
    [available, 'available'],
  ];
  const some = parts.filter(([value]) => value !== undefined && value > 0);
  return some.map(([value, word]) => `${count(value ?? 0)} ${word}`).join(', ') || 'no job is done';
};

/** A summary of all results, in one sentence. @param now in milliseconds since the epoch. */
export const soFar = ({ since, operations }: Totals, now: number): string => {
  const sum = (of: (each: Totals['operations'][number]) => number): number =>
    operations.reduce((all, each) => all + of(each), 0);
  const succeeded = sum(({ tasksSucceeded }) => tasksSucceeded);
  const calls = sum((each) => each.calls);
  return [
    `In the last ${duration(now - since)}: ${plural(succeeded, 'task')} succeeded`,
    `${count(sum(({ tasksFailed }) => tasksFailed))} failed`,
    `${plural(calls, 'downstream call')} made, ${count(sum(({ callsSaved }) => callsSaved))} saved by batching`,
  ].join(', ');
};
