/**
 * Handles an attempt whose results could not be stored, because a table of Groupage is throttled or its key or a permission is gone.
 * The tasks are not to blame, so such an attempt does not count against `maxAttempts`.
 *
 * The answers are lost with the function that heard them. So the write is repeated for as long as the function has time. Then
 * the batch waits, and is called again only after a write to one of its tasks has succeeded: an outage of the tables costs
 * one call, however long it lasts. {@link MOST_UNCOUNTED} bounds what an outage that comes and goes may cost. An attempt whose
 * function died counts: its payload may be what killed it.
 */

import { type Batch, lastAttempt } from '../../domain/batches/batch.ts';
import type { Millis } from '../../domain/ids.ts';
import { MAX_DELAY, SECOND, TO_REPORT } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import { reasonOf } from '../../util/problems.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { comeBack, pauseAsked } from './end-attempt.ts';
import type { Attempt } from './tally.ts';

/** So many attempts in a row need not count. */
export const MOST_UNCOUNTED = 10;

/** The time of the function that must be left to mark the attempt as uncounted, and to send the batch's message after that. */
const [RESERVE, LAST_RESERVE]: readonly [Millis, Millis] = [3 * SECOND, 1.5 * SECOND];
/** How long a write may take at the least: most take a few milliseconds. */
const LEAST: Millis = SECOND / 2;
const [FIRST_PAUSE, LONGEST_PAUSE]: readonly [Millis, Millis] = [50, SECOND];

/**
 * Repeats a write or a send while the function has time left. It stops waiting for a request then, which could use the time that is reserved.
 * An abandoned write may still happen; it is conditional, so it does no harm. An abandoned send may still deliver a second copy.
 *
 * @throws what the last try did; TimeIsUp
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

/** The same ports, with the writes repeated that keep what an attempt was answered. All of them may be made twice. */
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
 * Whether the next attempt takes the place of one that does not count: the batch still shows it as running, since not even
 * that could be written, and the message says so.
 */
export const takesPlace = ({ attempt, startedBy, uncounted = 0 }: Batch, marked: number | undefined): boolean =>
  marked === attempt && startedBy !== undefined && uncounted < MOST_UNCOUNTED;

/**
 * H5. Has a batch come back whose attempt could not be stored. What it was before that attempt stays as it was.
 *
 * @throws `cause` where the batch does not show the attempt any more: another one began, or it is finished, and the message
 * that comes back does what is left.
 */
export const comeBackUncounted = async (deps: CallDeps, run: Attempt, cause: unknown): Promise<Next> => {
  const { batches, machine, queues, report } = deps;
  const { batch, attempt, countedAttempts } = run;
  const { id: batchId, operation, open, pending, split, counts = NONE } = batch;
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
  };
  const shown = { uncounted, counts, lastAttempt: lastAttempt({ reason }, now), ...rest };
  const postpone = () =>
    batches.postpone(batchId, attempt, {
      ...shown,
      retryAt,
      countedAttempts: isCounted ? countedAttempts : countedAttempts - 1,
    });
  const postponed = await patiently(deps, run.invocation, postpone, LAST_RESERVE).catch(() => undefined);
  if (postponed === false) throw cause;
  if (postponed) await comeBack(deps, batch, retryAt);
  // Its row cannot be written either: the message alone says that the attempt does not count.
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

/** The batch's row is written with every attempt. */
const REASON_MAX = 200;
const NONE = { succeeded: 0, failed: 0 } as const;
