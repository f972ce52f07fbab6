/**
 * Works on one claim, from the answer that granted it until none of its jobs is left to do.
 *
 *     held ──all of its jobs are done────────────────────────▶ done
 *       ├──the loop stops──▶ stopping ──handlers have ended──▶ released
 *       └──refused, or not renewed in time──▶ lost
 *
 * - held: the handler processes at most `concurrency` jobs at a time; when it finishes a job, it gets the next job. The
 *   lease is renewed after each third of its span. Results of about the same time are reported together, in one call
 *   at a time.
 * - stopping: the signal has aborted, or an API error has ended the loop, for this claim or for another claim. The
 *   handler gets no more jobs. The signal of its running jobs aborts, and these jobs are awaited while the lease is
 *   renewed. Jobs that still finish are reported; the other jobs return to the pool.
 * - lost: as in stopping, but another worker may have the jobs. If the lease ended without a renewal, finished jobs are
 *   still reported, because the API accepts them until another worker claims them. If the API refused the claim, they
 *   are not reported.
 *
 * If the handler throws an error other than JobFailed, the other jobs continue. The job is given back at the end of the
 * claim as begun, so that this delivery counts for it.
 *
 * Each job goes to the handler at most once, and never after the claim is lost. Each job is counted once: as succeeded,
 * failed, released or lost.
 */

import { RESULT_MAX_BYTES } from '../domain/tasks/task.ts';
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';
import { ClaimLost, isRefusedClaim, type KeptLease, keepLease } from './kept-lease.ts';
import type { AttemptedJob, DoneJob, ReleasedJobs } from './list-calls.ts';
import type { Claim, ClaimedJob } from './list-client.ts';

/** Time for which results are collected before they are sent in one call, in milliseconds. */
const MOMENT = 50;

interface Gatherer<T> {
  add(one: T): void;
  /** Sends the remaining results now, because no more results will come. */
  close(): Promise<void>;
}

/**
 * Collects values for a moment and sends them together. It sends one group of values at a time.
 * @param send must not reject
 */
const gather = <T>(send: (part: readonly T[]) => Promise<void>): Gatherer<T> => {
  const waiting: T[] = [];
  const closed = new AbortController();
  let sending: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await rest(MOMENT, closed.signal);
      await send(waiting.splice(0));
    }
    sending = undefined;
  };
  return {
    add: (one) => {
      waiting.push(one);
      sending ??= run();
    },
    close: async () => {
      closed.abort();
      await sending;
    },
  };
};

/** Maximum lengths of an error code and of an error message that the API accepts, in bytes. */
const [CODE_MAX_BYTES, MESSAGE_MAX_BYTES] = [128, 4_096];

export const ERROR_CODE_RULE = `must be well-formed text of 1 to ${CODE_MAX_BYTES} bytes`;

/** Whether the API accepts a text as the code of an error. */
export const isErrorCode = (code: string): boolean =>
  code !== '' && code.isWellFormed() && Buffer.byteLength(code) <= CODE_MAX_BYTES;

/**
 * A handler throws this error if the job itself has failed. The job is then done, and no worker gets it again. After any
 * other error the job is handed out again, up to the list's `maxDeliveries`.
 */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly code: string;
  /**
   * @param code the error for programs: 1 to 128 bytes
   * @param message the error for people; cut after 4,096 bytes
   * @throws RangeError if the code is empty, too long or not well-formed
   */
  constructor(code: string, message: string, options?: ErrorOptions) {
    if (!isErrorCode(code)) throw new RangeError(`the code of a failed job ${ERROR_CODE_RULE}`);
    super(message, options);
    this.code = code;
  }
}

/** A job as the handler receives it. */
export interface HandledJob<Payload extends object> extends ClaimedJob<Payload> {
  /**
   * Aborts if the loop stops, or if another worker may have the job; its reason is then a ClaimLost. Work that the
   * handler does after the abort may be done twice.
   */
  readonly signal: AbortSignal;
}

/** How many jobs of one claim, or of all claims, had which outcome. */
export interface Worked {
  readonly succeeded: number;
  /** Number of failed jobs, those included whose handler threw an error in their last delivery. */
  readonly failed: number;
  /** Number of released jobs. Other workers can claim them. */
  readonly released: number;
  /**
   * Number of lost jobs. Another worker has the job, or can claim it when the lease ends; or the report of the job's
   * result got no answer.
   */
  readonly lost: number;
}

/** A claim that a worker has lost, with jobs that it had not ended. */
export interface LostClaim {
  /** Its id in the API. */
  readonly claim: string;
  /** Number of jobs that the worker had not ended, or whose ends the API did not confirm. */
  readonly jobs: number;
  readonly reason: string;
}

export interface Work<Payload extends object> {
  /** Processes a job. Its return value is the job's result. It throws JobFailed if the job has failed. */
  readonly handler: (job: HandledJob<Payload>) => unknown;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  /** Aborts when the loop stops. */
  readonly stop: AbortSignal;
  /** Called when the handler threw an error other than JobFailed. */
  readonly onJobError: (job: ClaimedJob<Payload>, error: unknown) => void;
  /** Called when a claim is lost while it has jobs that the worker has not ended. */
  readonly onClaimLost: (lost: LostClaim) => void;
  /** Stops the loop with this error. */
  readonly onBroken: (cause: unknown) => void;
  /** Called when the list is sealed and all of its jobs are done. */
  readonly onComplete: () => void;
}

/** The work on one claim. */
export interface WorkedOff extends Worked {
  /** Whether the handler threw an error for each job that it got. */
  readonly isAllErrors: boolean;
}

/** @param since time before the first request for this claim, by `performance.now()` */
export const workOff = async <Payload extends object>(
  claim: Claim<Payload>,
  since: number,
  work: Work<Payload>,
): Promise<WorkedOff> => {
  const { leaseSeconds, stop, onBroken } = work;
  const attempted: AttemptedJob[] = [];
  const renew = (signal: AbortSignal) => claim.renew(leaseSeconds, signal);
  const lease = await keepLease({ renew, span: leaseSeconds * 1_000, since, onBroken });
  const reported = { succeeded: 0, failed: 0 };
  const reports = gather<DoneJob>(async (jobs) => {
    if (!(await report(claim, lease, jobs, work))) return;
    for (const { status = 'succeeded' } of jobs) reported[status] += 1;
  });
  const signal = AbortSignal.any([stop, lease.lost]);
  await handOut(claim.jobs, work, signal, reports.add, (job) => attempted.push(job));
  await reports.close();
  const { succeeded, failed } = reported;
  const left = claim.jobs.length - succeeded - failed;
  const back = left > 0 ? await giveBack(claim, lease, attempted, onBroken) : undefined;
  if (back?.complete) work.onComplete();
  await lease.stop();
  if (!back && left > 0) {
    const why: unknown = lease.lost.reason;
    const reason = why instanceof ClaimLost ? why.message : 'the API did not confirm the end of its jobs';
    work.onClaimLost({ claim: claim.id, jobs: left, reason });
  }
  return {
    succeeded,
    failed: failed + (back?.failed ?? 0),
    released: back ? left - back.failed : 0,
    lost: back ? 0 : left,
    isAllErrors: attempted.length > 0 && succeeded + failed === 0,
  };
};

/** Passes the jobs to the handler, up to `concurrency` at a time, until none is left or the signal aborts. */
const handOut = async <Payload extends object>(
  jobs: readonly ClaimedJob<Payload>[],
  { handler, concurrency, onJobError }: Work<Payload>,
  signal: AbortSignal,
  done: (job: DoneJob) => void,
  begun: (job: AttemptedJob) => void,
): Promise<void> => {
  const left = jobs.values();
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const { value: job } = left.next();
      if (!job) return;
      try {
        done(succeeded(job.token, await handler({ ...job, signal })));
      } catch (cause) {
        if (cause instanceof JobFailed) done(failed(job.token, cause));
        // A handler may stop by throwing an error after the signal has aborted. Such a job has not failed.
        else if (!signal.aborted) {
          begun({ token: job.token, error: errorOf(cause) });
          onJobError(job, cause);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, one));
};

/** @throws JobFailed for a result that the API would refuse: the work would give it again and again */
const succeeded = (token: number, result: unknown): DoneJob => {
  const bytes = Buffer.byteLength(printed(result) ?? '');
  if (bytes > RESULT_MAX_BYTES)
    throw new JobFailed(
      'result-too-large',
      `the handler succeeded, but its result has ${bytes} bytes, more than the limit of ${RESULT_MAX_BYTES}: store it elsewhere and return a reference`,
    );
  return { token, status: 'succeeded', ...(result === undefined ? {} : { result }) };
};

const printed = (result: unknown): string | undefined => {
  try {
    return JSON.stringify(result);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailed('result-not-json', `the handler succeeded, but its result cannot be written as JSON: ${why}`);
  }
};

const failed = (token: number, { code, message }: JobFailed): DoneJob => ({
  token,
  status: 'failed',
  // The API refuses an empty message, so send the code instead.
  error: { code, message: shortened(message) || code },
});

/** An error of the handler, as the job's error after its last delivery. */
const errorOf = (cause: unknown): NonNullable<AttemptedJob['error']> => {
  const [name, message] = cause instanceof Error ? [cause.name, cause.message] : ['Error', String(cause)];
  const text = name === 'Error' ? message || name : `${name}${message && `: ${message}`}`;
  return { code: 'handler-error', message: shortened(text) };
};

const shortened = (text: string): string => {
  const bytes = Buffer.from(text.toWellFormed());
  // If the cut went through a character, remove the rest of that character too.
  return bytes.length <= MESSAGE_MAX_BYTES
    ? bytes.toString()
    : bytes.toString('utf8', 0, MESSAGE_MAX_BYTES).replace(/\ufffd+$/, '');
};

/**
 * Reports finished jobs. Repeats the call until the API answers or the lease ends. Returns whether the API confirmed
 * the report.
 */
const report = async <Payload extends object>(
  claim: Claim<Payload>,
  lease: KeptLease,
  jobs: readonly DoneJob[],
  { onBroken, onComplete }: Work<Payload>,
): Promise<boolean> => {
  while (lease.lossOf() !== 'refused') {
    try {
      if ((await claim.complete(jobs)).complete) onComplete();
      return true;
    } catch (cause) {
      if (isRefusedClaim(cause)) lease.lose('refused');
      else if (!(cause instanceof ApiUnavailable)) {
        onBroken(cause);
        return false;
      } else if (lease.lossOf()) return false;
    }
  }
  return false;
};

/**
 * Releases jobs. Returns the answer of the API if it confirmed it. Without an answer, other
 * workers can claim the jobs a minute after the lease ends.
 */
const giveBack = async <Payload extends object>(
  claim: Claim<Payload>,
  lease: KeptLease,
  attempted: readonly AttemptedJob[],
  onBroken: (cause: unknown) => void,
): Promise<ReleasedJobs | undefined> => {
  if (lease.lossOf() === 'refused') return undefined;
  try {
    const answer = await claim.release(attempted);
    return answer.released + answer.failed > 0 ? answer : undefined;
  } catch (cause) {
    if (cause instanceof ApiRefused && !isRefusedClaim(cause)) onBroken(cause);
    else if (!(cause instanceof ApiRefused || cause instanceof ApiUnavailable)) throw cause;
    return undefined;
  }
};
