/** The steps of a task, from the data of the task and of its batch. Pure. */

import type { Batch } from '../../../../../src/api/batches/responses.ts';
import type { Task } from '../../../../../src/api/tasks/responses.ts';
import { clock, count, duration, percent, plural, relative } from '../base/format.ts';
import type { Route } from '../base/router.ts';
import { type Call, contains } from './calls.ts';
import { errorMeans, sealedBecause, type Tone } from './words.ts';

export interface Step {
  /** When the step happened, in milliseconds since the epoch. Undefined for a current or future step. */
  readonly at?: number;
  readonly tone: Tone;
  readonly title: string;
  /** A reason or an explanation. */
  readonly text?: string;
  /** A text that the downstream returned, verbatim. */
  readonly quote?: string;
  readonly link?: { readonly route: Route; readonly text: string };
}

/** The steps in chronological order. @param now in milliseconds since the epoch. */
export const timelineOf = (task: Task, batch: Batch | undefined, now: number): readonly Step[] => [
  registered(task),
  ...redriven(task),
  ...(batch ? inBatch(task, batch, now) : batchToCome(task)),
  ...waits(task),
  ...ended(task, batch),
];

const registered = (task: Task): Step => ({
  at: Date.parse(task.createdAt),
  tone: 'ok',
  title: 'Registered',
  ...(task.priority === undefined ? {} : { text: `with priority ${task.priority} of 9` }),
  link: { route: { view: 'target', target: task.target }, text: task.target },
});

const redriven = ({ redrivenAt, run = 1 }: Task): Step[] =>
  redrivenAt === undefined
    ? []
    : [{ at: Date.parse(redrivenAt), tone: 'warn', title: `Redriven: run ${run}`, text: 'the previous run failed' }];

/** The step that is shown while the batch is being read, or after the batch has expired. */
const batchToCome = ({ batchId }: Task): Step[] =>
  batchId === undefined
    ? []
    : [{ tone: 'ok', title: 'In a batch', link: { route: { view: 'batch', id: batchId }, text: batchId } }];

const inBatch = (task: Task, batch: Batch, now: number): Step[] => {
  const { sealedAt, startedAt } = batch;
  const since = Date.parse(task.redrivenAt ?? task.createdAt);
  const sealed: Step = {
    ...(sealedAt === undefined ? {} : { at: Date.parse(sealedAt) }),
    tone: sealedAt === undefined ? 'busy' : 'ok',
    title: sealedAt === undefined ? 'Its batch is being sealed' : `In a batch of ${plural(batch.size, 'task')}`,
    text: [
      `sealed because ${sealedBecause(batch.sealedBy)}`,
      ...(batch.fill === undefined ? [] : [`${percent(batch.fill)} full`]),
      ...(sealedAt === undefined ? [] : [`after a wait of ${duration(Date.parse(sealedAt) - since)}`]),
    ].join(', '),
    link: { route: { view: 'batch', id: batch.id }, text: batch.id },
  };
  return startedAt === undefined ? [sealed] : [sealed, ...attempts(task, batch, now)];
};

/** A step for each recorded call that contained the task, and one for the attempt that runs or is to come. */
const attempts = (task: Task, batch: Batch, now: number): Step[] => {
  const place = (batch.members?.indexOf(task.id) ?? -1) + 1;
  const calls = (batch.calls ?? []).filter((call) => place === 0 || contains(call, place));
  if (calls.length === 0) return [unrecorded(task, batch, now)];
  const first = calls[0]?.attempt ?? 1;
  const earlier: Step[] =
    first > 1
      ? [
          {
            tone: 'warn',
            title: first === 2 ? 'Attempt 1' : `Attempts 1 to ${count(first - 1)}`,
            text: 'their calls are no longer recorded',
          },
        ]
      : [];
  return [...earlier, ...calls.map((call) => called(call, batch)), ...toCome(task, batch, now)];
};

const called = ({ attempt, startedAt, tookMs, isError, answer, tasks }: Call, { size }: Batch): Step => ({
  at: Date.parse(startedAt),
  tone: isError ? 'bad' : 'ok',
  title: `Attempt ${count(attempt)}: ${isError ? 'the call failed' : 'the downstream answered'}`,
  text: `after ${duration(tookMs)}, with ${tasks === size ? `all ${plural(tasks, 'task')}` : `${count(tasks)} of ${plural(size, 'task')}`} of the batch`,
  ...(isError ? { quote: answer } : {}),
});

/** The attempt that runs now, or the next one. */
const toCome = (task: Task, { status, attempt, calls }: Batch, now: number): Step[] => {
  if (hasEnded(task) || status !== 'in-progress') return [];
  if (task.nextAttemptAfter) {
    const next = Date.parse(task.nextAttemptAfter);
    return [{ tone: 'busy', title: `Attempt ${count(attempt + 1)}`, text: whenNext(next, now) }];
  }
  const isRecorded = calls?.some((call) => call.attempt === attempt);
  return isRecorded ? [] : [{ tone: 'busy', title: `Attempt ${count(attempt)}: the downstream is being called` }];
};

/** The step of an attempt whose calls are not recorded: it runs, or its function died, or an earlier release made it. */
const unrecorded = (task: Task, batch: Batch, now: number): Step => {
  const next = !hasEnded(task) && task.nextAttemptAfter ? Date.parse(task.nextAttemptAfter) : undefined;
  const quote = batch.lastAttempt?.reason ?? task.lastReason;
  return {
    at: Date.parse(batch.lastAttempt?.endedAt ?? batch.startedAt ?? ''),
    tone: quote === undefined ? (hasEnded(task) ? 'idle' : 'busy') : 'bad',
    title: batch.attempt > 1 ? `Downstream called, attempt ${count(batch.attempt)}` : 'Downstream called',
    ...(next === undefined ? {} : { text: whenNext(next, now) }),
    ...(quote === undefined ? {} : { quote }),
  };
};

const hasEnded = ({ status }: Task): boolean => status === 'succeeded' || status === 'failed';

const whenNext = (next: number, now: number): string =>
  next > now ? `the next attempt starts ${relative(next, now)} at the earliest` : 'the next attempt is due';

const waits = (task: Task): Step[] => {
  const { status, waitsFor, startBy } = task;
  if (hasEnded(task)) return [];
  const limit =
    startBy === undefined
      ? ''
      : ` The task fails as expired if no batch claims it by ${clock(Date.parse(startBy), 0)}.`;
  if (waitsFor)
    return [
      {
        tone: 'busy',
        title: `Waits for ${waitsFor.text}`,
        ...(limit ? { text: limit.trim() } : {}),
        ...(waitsFor.limit === undefined
          ? {}
          : { link: { route: { view: 'limit', name: waitsFor.limit }, text: `limit ${waitsFor.limit}` } }),
      },
    ];
  return status === 'created'
    ? [{ tone: 'busy', title: 'Waits for its batch', ...(limit ? { text: limit.trim() } : {}) }]
    : [];
};

const ended = (task: Task, batch: Batch | undefined): Step[] => {
  if (task.finishedAt === undefined) return [];
  const at = Date.parse(task.finishedAt);
  const after = duration(at - Date.parse(task.createdAt));
  if (task.status === 'failed')
    return [
      {
        at,
        tone: 'bad',
        title: `Failed: ${task.error?.code ?? 'without a code'}`,
        text: [
          ...(task.error && errorMeans(task.error.code) ? [errorMeans(task.error.code)] : []),
          ...(batch || task.batchId ? [`after ${plural(task.attempts, 'attempt')}`] : []),
          task.error?.retriable
            ? 'a redrive may help'
            : 'a redrive helps once the cause is fixed; if the payload is at fault, send a corrected task under another id',
        ].join(', '),
        ...(task.error ? { quote: task.error.message } : {}),
      },
    ];
  if (task.supersededBy !== undefined)
    return [
      {
        at,
        tone: 'ok',
        title: 'Superseded',
        text: 'a newer task with the same coalesce key replaced it',
        link: { route: { view: 'task', id: task.supersededBy }, text: task.supersededBy },
      },
    ];
  return [{ at, tone: 'ok', title: 'Succeeded', text: `${after} after it was registered` }];
};
