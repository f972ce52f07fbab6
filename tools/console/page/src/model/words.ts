/** What the API says in one word, in words for people and in a tone that has a shape of its own. Pure. */

import type { FanOut } from '../../../../../src/api/fan-outs/responses.ts';
import type { List } from '../../../../../src/api/lists/responses.ts';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import type { Totals } from '../../../server/shapes.ts';
import { count, duration, plural } from '../base/format.ts';

/** Each has a colour and a shape: neither says it alone. */
export type Tone = 'ok' | 'bad' | 'warn' | 'busy' | 'idle';

export interface State {
  readonly tone: Tone;
  readonly word: string;
}

/** Reads states off a table. One that this page does not know goes by its own word. */
const statesOf =
  (states: Readonly<Record<string, State>>) =>
  (status: string): State =>
    states[status] ?? { tone: 'idle', word: status };

const SEALED_BY: Readonly<Record<string, string>> = {
  full: 'it had as many tasks as a batch may have',
  bytes: 'another task would have made it larger than a batch may be',
  weight: 'another task would have made it heavier than a batch may be',
  waited: 'its oldest task had waited for as long as any may wait',
  quiet: 'no other task had come for a while',
  bypass: 'its task is large enough to go alone',
  flush: 'somebody flushed its Target',
};

/** Why a batch was sealed: the end of a sentence that begins with "sealed because". */
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

/** Of a fan-out or a list. */
export const trackerState = statesOf({
  open: { tone: 'busy', word: 'open' },
  sealed: { tone: 'busy', word: 'sealed' },
  complete: { tone: 'ok', word: 'complete' },
  expired: { tone: 'warn', word: 'expired' },
  cancelled: { tone: 'warn', word: 'cancelled' },
});

export const nodeState = statesOf({
  working: { tone: 'ok', word: 'working' },
  draining: { tone: 'warn', word: 'draining' },
  leaving: { tone: 'warn', word: 'leaving' },
  evicted: { tone: 'bad', word: 'evicted' },
});

export const jobState = statesOf({
  waiting: { tone: 'idle', word: 'waiting' },
  leased: { tone: 'busy', word: 'leased' },
  started: { tone: 'busy', word: 'started' },
  succeeded: { tone: 'ok', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
});

const BECAUSE: Readonly<Record<string, string>> = {
  'all-done': 'all of its items are done',
  'too-many-failed': 'too many of its items failed',
  idle: 'nothing happened for too long',
  deleted: 'somebody deleted it',
};

/** Why a fan-out ended. */
export const endedBecause = (because: string): string => BECAUSE[because] ?? because;

const ERRORS: Readonly<Record<string, string>> = {
  'attempts-exhausted': 'every attempt came to nothing',
  refused: 'the downstream refused it',
  'answer-too-large': 'the answer about it was too large to be read: it may have been done',
  failed: 'the downstream said that it failed',
  'inputs-unreadable':
    'it was registered before its operation merged, and its payload has no inputs where merge.keys says',
  'payload-lost': 'its payload was not stored any more',
  expired: 'no batch had it in time',
  cancelled: 'somebody cancelled it',
};

/** What an error's code means; undefined for a downstream's own. */
export const errorMeans = (code: string): string | undefined => ERRORS[code];

/** For so long a message that makes a leader may be on its way (ms). */
const ON_ITS_WAY = 20_000;

/** What a Target does at the moment, in a word. */
export const targetState = (
  { paused, openBatch, blocked, waiting, oldestAt, leader, inFlight }: Target,
  now: number,
): State => {
  if (paused) return { tone: 'warn', word: 'paused' };
  if (openBatch) return { tone: 'busy', word: 'sealing' };
  if (blocked) return { tone: 'warn', word: 'no room' };
  if (waiting > 0 && leader && Date.parse(leader.lockedUntil) >= now) return { tone: 'busy', word: 'filling' };
  if (waiting > 0)
    return now - Date.parse(oldestAt ?? '') > ON_ITS_WAY
      ? { tone: 'warn', word: 'no leader' }
      : { tone: 'busy', word: 'waiting' };
  return inFlight && inFlight.length > 0 ? { tone: 'busy', word: 'in flight' } : { tone: 'idle', word: 'idle' };
};

/** How far a fan-out is, in words. */
export const fanOutWords = ({ total, succeeded, failed, pending, status }: FanOut): string => {
  if (total === 0) return status === 'open' ? 'no items yet' : 'no items';
  if (succeeded === undefined || pending === undefined) return `${count(failed)} failed; the others are not counted`;
  return [
    `${count(succeeded)} succeeded`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    `${count(pending)} pending`,
  ].join(', ');
};

/** How far a list is, in words. */
export const listWords = ({ total, available, leased, started, done, failed }: List): string => {
  if (total === 0) return 'no jobs yet';
  const parts: readonly (readonly [number | undefined, string])[] = [
    [done, 'done'],
    [failed, 'of them failed'],
    [started, 'started'],
    [leased, 'leased'],
    [available, 'available'],
  ];
  const some = parts.filter(([value]) => value !== undefined && value > 0);
  return some.map(([value, word]) => `${count(value ?? 0)} ${word}`).join(', ') || 'none is done';
};

/** What came of everything so far, in a sentence. @param now milliseconds of the epoch. */
export const soFar = ({ since, operations }: Totals, now: number): string => {
  const sum = (of: (each: Totals['operations'][number]) => number): number =>
    operations.reduce((all, each) => all + of(each), 0);
  const succeeded = sum(({ tasksSucceeded }) => tasksSucceeded);
  const calls = sum((each) => each.calls);
  return [
    `In ${duration(now - since)}: ${plural(succeeded, 'task')} succeeded`,
    `${count(sum(({ tasksFailed }) => tasksFailed))} failed`,
    `${plural(calls, 'call')} made, ${count(sum(({ callsSaved }) => callsSaved))} saved`,
  ].join(', ');
};
