/**
 * Handles an attempt whose results could not be stored, because a table of Groupage is throttled, or its KMS key or a
 * permission is missing. The tasks are not at fault, so such an attempt does not count towards `maxAttempts`.
 *
 * Results that are not stored are lost when the invocation ends. So the write is repeated for as long as the function
 * has time. If it still fails, the batch waits, and its next call is made only after a write to one of its tasks has
 * succeeded. So an outage of the tables costs one call, however long it lasts. {@link MOST_UNCOUNTED} limits the calls
 * if there are many short outages. An attempt whose function died counts, because a payload may be the cause.
 */

import { type Batch, lastAttempt, unfinishedOf } from '../../domain/batches/batch.ts';
import { lastCalls } from '../../domain/batches/call-record.ts';
import type { Millis } from '../../domain/ids.ts';
import { MAX_DELAY, SECOND, TO_REPORT } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import { reasonOf } from '../../util/problems.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { comeBack } from './end-attempt.ts';
import { pauseAsked } from './next-attempt.ts';
import type { Attempt } from './tally.ts';

/** The largest number of attempts in a row that do not count. */
export const MOST_UNCOUNTED = 10;

/**
 * The function's time that is reserved for postponing the batch as uncounted, and for sending the batch's message after
 * that.
 */
const [RESERVE, LAST_RESERVE]: readonly [Millis, Millis] = [3 * SECOND, 1.5 * SECOND];
/** The shortest time to allow for a write. Most writes take a few milliseconds. */
const LEAST: Millis = SECOND / 2;
const [FIRST_PAUSE, LONGEST_PAUSE]: readonly [Millis, Millis] = [50, SECOND];

/**
 * Repeats a write or a send while the function has time left. When only the reserved time is left, it abandons the
 * request. An abandoned write may still happen, which does no harm because each write is conditional. An abandoned send
 * may still deliver a second copy.
 *
 * @throws the error of the last request, or TimeIsUp.
 */
const patiently = async <T>(
  { machine }: CallDeps,
  { timeLeft }: Invocation,
  write: () => Promise<T>,
  reserve = RESERVE,
): Promise<T> => {
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await machine.within(Math.max(LEAST, timeLeft() - reserve), write);
    } catch (cause) {
      if (timeLeft() < reserve + pause) throw cause;
      await machine.sleep(pause * (0.5 + machine.random() / 2));
    }
  }
};

/**
 * The same ports, except that the writes that store the results and progress of an attempt are repeated if they fail.
 * Each of these writes may be made twice.
 */
export const patient = (deps: CallDeps, invocation: Invocation): CallDeps => {
  const { tasks, batches } = deps;
  return {
    ...deps,
    tasks: { ...tasks, finish: (...args) => patiently(deps, invocation, () => tasks.finish(...args)) },
    batches: {
      ...batches,
      postpone: (...args) => patiently(deps, invocation, () => batches.postpone(...args)),
      finish: (...args) => patiently(deps, invocation, () => batches.finish(...args)),
    },
  };
};

/**
 * Whether the next attempt replaces an attempt that does not count. If even the batch's row could not be written, the
 * batch still shows that attempt as running, and only the message has the mark.
 */
export const takesPlace = ({ attempt, startedBy, uncounted = 0 }: Batch, marked: number | undefined): boolean =>
  marked === attempt && startedBy !== undefined && uncounted < MOST_UNCOUNTED;

/**
 * H5. Postpones a batch whose attempt could not be stored. Everything else in the batch's row gets its value from
 * before that attempt.
 *
 * @throws `cause` if the batch no longer shows this attempt, because another attempt began or the batch is finished.
 *   SQS then delivers the message again, and the next invocation does what is left.
 */
export const comeBackUncounted = async (deps: CallDeps, run: Attempt, cause: unknown): Promise<Next> => {
  const { batches, machine, queues, report } = deps;
  const { batch, attempt, countedAttempts } = run;
  const { id: batchId, operation, open, pending, split, parts, partFailures, spared, suspicion } = batch;
  const { counts = NONE } = batch;
  const uncounted = (batch.uncounted ?? 0) + 1;
  const now = machine.now();
  const backoff = Math.min(MAX_DELAY, 2 ** uncounted * SECOND);
  const retryAt = now + Math.max(backoff, pauseAsked(run));
  const reason = `Groupage could not store the results of the call (its own table failed): ${reasonOf(cause)}`.slice(
    0,
    REASON_MAX,
  );
  const isCounted = uncounted > MOST_UNCOUNTED;
  const rest = {
    ...(open ? { open } : {}),
    ...(pending ? { pending } : {}),
    ...(split === undefined ? {} : { split }),
    ...(parts ? { parts } : {}),
    ...(partFailures ? { partFailures } : {}),
    ...(spared ? { spared } : {}),
    ...(suspicion ? { suspicion } : {}),
  };
  const unfinished = { open: unfinishedOf(batch).length, pending: pending?.ids.length ?? 0 };
  const last = lastAttempt({ reason }, { attempt, endedAt: now, ...unfinished });
  const shown = { uncounted, counts, lastAttempt: last, calls: lastCalls(batch.calls, run.calls), ...rest };
  const postpone = () =>
    batches.postpone(batchId, attempt, {
      ...shown,
      retryAt,
      countedAttempts: isCounted ? countedAttempts : countedAttempts - 1,
    });
  const postponed = await patiently(deps, run.invocation, postpone, LAST_RESERVE).catch(() => undefined);
  if (postponed === false) throw cause;
  if (postponed) await comeBack(deps, batch, retryAt);
  // The batch's row cannot be written either, so the message carries the mark.
  else {
    const delay = Math.ceil(Math.min(MAX_DELAY, retryAt - now) / SECOND);
    await patiently(
      deps,
      run.invocation,
      () => queues.batch({ kind: 'due', batchId, uncounted: attempt }, delay),
      TO_REPORT,
    );
  }
  report({ event: 'not-stored', batchId, operation, attempt, retryAt, cause: String(cause) });
  return 'end';
};

/**
 * The longest reason that is stored, in characters. It is short because the batch's row is written with each attempt.
 */
const REASON_MAX = 200;
const NONE = { succeeded: 0, failed: 0 } as const;
