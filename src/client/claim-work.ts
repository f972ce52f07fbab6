/**
 * One claim at work, from the answer that granted it until nothing of it is left to do.
 *
 *     held ──all of its jobs are done────────────────────────▶ done
 *       ├──the loop stops──▶ stopping ──handlers have ended──▶ given back
 *       └──refused, or not renewed in time──▶ lost
 *
 * - held: at most `concurrency` jobs are with the handler; where one ends, the next begins. The lease is renewed each
 *   third of it. What is done is told as it ends, that of a moment together, by one call at a time.
 * - stopping (somebody aborts, or a handler broke, of this claim or another one): no job goes to the handler any
 *   more. Those that are there hear of it by their signal, and are waited for, with the lease renewed; what they finish
 *   all the same is told, and the rest goes back to the pool.
 * - lost: as above, but somebody else may have the jobs. What was finished is still told where the end passed
 *   unrenewed, since that is accepted as long as nobody took them; not where the API has refused the claim.
 *
 * Each job goes to the handler at the most once, never after the loss, and is counted once: told, given back, or lost.
 */

import { RESULT_MAX_BYTES } from '../domain/tasks/task.ts';
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';
import { isRefusedClaim, type KeptLease, keepLease } from './kept-lease.ts';
import type { DoneJob } from './list-calls.ts';
import type { Claim, ClaimedJob } from './list-client.ts';

/** Milliseconds. */
const MOMENT = 50;

interface Gatherer<T> {
  add(one: T): void;
  /** Nothing is added any more: what is left goes now. */
  close(): Promise<void>;
}

/** Gathers what comes within a moment, and sends it together: one part after the other. @param send must not reject */
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

/** What the API takes of an error, in bytes. */
const [CODE_MAX_BYTES, MESSAGE_MAX_BYTES] = [128, 4_096];

/**
 * Thrown by a handler where the job itself has failed: it is done then, and nobody gets it again. Any other error stops
 * the loop, and gives the job back.
 */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly code: string;
  /**
   * @param code tells programs what went wrong: 1 to 128 bytes @param message tells people, its first 4,096 bytes at
   * the most @throws RangeError
   */
  constructor(code: string, message: string, options?: ErrorOptions) {
    if (code === '' || !code.isWellFormed() || Buffer.byteLength(code) > CODE_MAX_BYTES)
      throw new RangeError(`the code of a failed job is well-formed text of 1 to ${CODE_MAX_BYTES} bytes`);
    super(message, options);
    this.code = code;
  }
}

/** A job as the handler gets it. */
export interface HandledJob<Payload extends object> extends ClaimedJob<Payload> {
  /** Aborts where the loop stops, or somebody else may have the job: whatever it does then may be done twice. */
  readonly signal: AbortSignal;
}

/** What became of the jobs of a claim, or of all of them. */
export interface Worked {
  readonly succeeded: number;
  readonly failed: number;
  /** Given back: others get them. */
  readonly released: number;
  /** Somebody else has them, or will once the lease has ended; or nobody knows whether they were told. */
  readonly lost: number;
}

export interface Work<Payload extends object> {
  /** What it answers is the job's result; it throws JobFailed for a job that has failed. */
  readonly handler: (job: HandledJob<Payload>) => unknown;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  /** Aborts where the loop stops. */
  readonly stop: AbortSignal;
  /** Stops the loop with this error. */
  readonly onBroken: (cause: unknown) => void;
  /** The list has no more jobs that are not done, and is sealed. */
  readonly onComplete: () => void;
}

/** @param since by `performance.now()`: before the claim was first asked for */
export const workOff = async <Payload extends object>(
  claim: Claim<Payload>,
  since: number,
  work: Work<Payload>,
): Promise<Worked> => {
  const { leaseSeconds, stop, onBroken } = work;
  const renew = (signal: AbortSignal) => claim.renew(leaseSeconds, signal);
  const lease = await keepLease({ renew, span: leaseSeconds * 1_000, since, onBroken });
  const told = { succeeded: 0, failed: 0 };
  const telling = gather<DoneJob>(async (jobs) => {
    if (!(await tell(claim, lease, jobs, work))) return;
    for (const { status = 'succeeded' } of jobs) told[status] += 1;
  });
  const signal = AbortSignal.any([stop, lease.lost]);
  await handOut(claim.jobs, work, signal, telling.add);
  await telling.close();
  const left = claim.jobs.length - told.succeeded - told.failed;
  const isBack = left > 0 && (await giveBack(claim, lease, onBroken));
  await lease.letGo();
  return { ...told, released: isBack ? left : 0, lost: isBack ? 0 : left };
};

/** Each job to the handler, some at once, until none is left or the signal aborts. */
const handOut = async <Payload extends object>(
  jobs: readonly ClaimedJob<Payload>[],
  { handler, concurrency, onBroken }: Work<Payload>,
  signal: AbortSignal,
  done: (job: DoneJob) => void,
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
        // Whoever was told to stop may stop by throwing.
        else if (!signal.aborted) onBroken(cause);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, one));
};

/** @throws RangeError for a result that the API would not take */
const succeeded = (token: number, result: unknown): DoneJob => {
  const bytes = Buffer.byteLength(JSON.stringify(result) ?? '');
  if (bytes > RESULT_MAX_BYTES)
    throw new RangeError(
      `the result of job ${token} has ${bytes} bytes, at most ${RESULT_MAX_BYTES} are taken: store it elsewhere, and answer where`,
    );
  return { token, status: 'succeeded', ...(result === undefined ? {} : { result }) };
};

const failed = (token: number, { code, message }: JobFailed): DoneJob => ({
  token,
  status: 'failed',
  // The API takes no empty message.
  error: { code, message: shortened(message) || code },
});

const shortened = (text: string): string => {
  const bytes = Buffer.from(text.toWellFormed());
  // What is left of a character that was cut in two goes, too.
  return bytes.length <= MESSAGE_MAX_BYTES
    ? bytes.toString()
    : bytes.toString('utf8', 0, MESSAGE_MAX_BYTES).replace(/\ufffd+$/, '');
};

/** Tells what is done, again where no answer came, as long as the lease is there. Answers whether it is known to be told. */
const tell = async <Payload extends object>(
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

/** Answers whether the jobs went back: where no answer comes they do once the lease has ended. */
const giveBack = async <Payload extends object>(
  claim: Claim<Payload>,
  lease: KeptLease,
  onBroken: (cause: unknown) => void,
): Promise<boolean> => {
  if (lease.lossOf() === 'refused') return false;
  try {
    return (await claim.release()).released > 0;
  } catch (cause) {
    if (cause instanceof ApiRefused && !isRefusedClaim(cause)) onBroken(cause);
    else if (!(cause instanceof ApiRefused || cause instanceof ApiUnavailable)) throw cause;
    return false;
  }
};
