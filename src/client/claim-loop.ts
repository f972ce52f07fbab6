/**
 * The loop of a worker that pulls jobs. It claims jobs of a list, runs the handler on them, and claims again until no
 * jobs are left.
 *
 * States of each claimer:
 *
 *     claiming ──jobs──▶ working (claim-work.ts) ──▶ claiming
 *        │  ▲
 *        │  └──a pause, longer each time───┐
 *        ├──no jobs, or the API is busy──▶ waiting
 *        └──no more jobs to come──▶ ended
 *
 * - claiming: the claimer uses one claimId until the API answers. If an answer was lost, the next request with this
 *   claimId returns the jobs that the lost answer granted.
 * - waiting: other workers may release jobs or lose their leases, and more jobs may be added. The wait ends early if
 *   another claimer of this loop completes the list, or if the loop stops.
 * - ended: the list is complete or cancelled; or it is drained: sealed, with no job available or leased, so that no job
 *   can return to the pool; or the loop stops. The loop stops when its signal aborts, or after an API error that a
 *   repeated call does not fix. Then all claimers release their jobs and end.
 *
 * An error of the handler ends neither the claim nor the loop. If the handler threw an error for each job of a claim,
 * something other than the jobs may be broken, so the claimer pauses before its next claim, longer each time.
 */
import { hostname } from 'node:os';
import { monotonicFactory } from 'ulid';
import { CLAIM_ID_RULE, HOLDER_MAX, HOLDER_PATTERN, claimId as parseClaimId } from '../domain/lists/ids.ts';
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';
import { type HandledJob, type LostClaim, type Work, type Worked, workOff } from './claim-work.ts';
import type { Claim, ClaimedJob, DeferredList } from './list-client.ts';

export type { HandledJob, LostClaim } from './claim-work.ts';

/** Options of {@link claimLoop}. */
export interface ClaimLoopOptions {
  /** Maximum number of jobs per claim: 1 to 1,000. */
  readonly count: number;
  /**
   * Lease of a claim, in seconds: 1 to 43,200. The loop renews the lease in time while it works on the claim's jobs. If
   * the worker crashes, the jobs return to the pool a minute after the lease ends, so a short lease is best.
   * @default 60
   */
  readonly leaseSeconds?: number;
  /** Maximum number of jobs of one claim that the handler processes at the same time: 1 to 1,000. @default 1 */
  readonly concurrency?: number;
  /**
   * Maximum number of claims that the loop processes at the same time: 1 to 64. Claims beyond 64 of a list, those of
   * other workers included, cost more. @default 1
   */
  readonly claimers?: number;
  /** When this signal aborts, the loop stops and releases the jobs that are not done. */
  readonly signal?: AbortSignal;
  /**
   * Prefix of the claim ids: 1 to 32 characters of A-Z a-z 0-9 _ @ -.
   * @default worker
   */
  readonly claimIdPrefix?: string;
  /**
   * Who claims, for people: 1 to 32 visible ASCII characters. `groupage lists claims` shows it.
   * @default - the end of the host's name, and the id of the process
   */
  readonly holder?: string;
  /**
   * Called when the handler throws an error other than JobFailed. The job is handed out again, up to the list's
   * `maxDeliveries`. @default - writes a line of JSON to standard error
   */
  readonly onJobError?: (job: ClaimedJob<object>, error: unknown) => void;
  /**
   * Called when a claim is lost with jobs that are not done, for example because a person broke it. Other workers can
   * claim these jobs. @default - writes a line of JSON to standard error
   */
  readonly onClaimLost?: (lost: LostClaim) => void;
}

/**
 * The work that the loop did, and the reason for its end. `drained`: the list is sealed, and none of its jobs is
 * available or leased.
 */
export interface LoopEnd extends Worked {
  readonly ended: 'complete' | 'cancelled' | 'drained' | 'aborted';
  readonly claims: number;
}

/**
 * Shortest and longest limit of the pauses while there are no jobs, in milliseconds. The limit doubles after each
 * pause. A pause lasts at least half of the limit.
 */
const [FIRST_PAUSE, LONGEST_PAUSE] = [250, 10_000];
/** The same for the pauses after a claim in which the handler threw an error for each job. */
const [FIRST_ERROR_PAUSE, LONGEST_ERROR_PAUSE] = [1_000, 60_000];
const LEASE_SECONDS = 60;

/**
 * The end of the host's name, which tells pods apart, and the process. It is short, because each claim of the list
 * writes the names of all holders.
 */
const thisProcess = (): string =>
  `${hostname()
    .replaceAll(/[^!-~]/g, '-')
    .slice(-14)}/${process.pid}`;

const printJobError = (list: string) => (job: ClaimedJob<object>, error: unknown) =>
  console.error(
    JSON.stringify({
      level: 'error',
      event: 'job-error',
      list,
      token: job.token,
      deliveries: job.deliveries,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  );

const printLostClaim = (list: string) => (lost: LostClaim) =>
  console.error(JSON.stringify({ level: 'warn', event: 'claim-lost', list, ...lost }));

const newId = monotonicFactory();

/**
 * Processes jobs of a list until the list is complete, cancelled or drained, or until the signal aborts.
 *
 * @param handler processes one job. Its return value is the job's result. It throws JobFailed if the job has failed.
 * After any other error the job is handed out again, up to the list's `maxDeliveries`, and the loop continues.
 * @throws RangeError for invalid options; ApiRefused or ApiUnavailable. The loop first releases the jobs that are not
 * done.
 */
export const claimLoop = async <Payload extends object>(
  list: DeferredList<Payload>,
  handler: (job: HandledJob<Payload>) => unknown,
  options: ClaimLoopOptions,
): Promise<LoopEnd> => {
  const { claimers = 1, concurrency = 1, leaseSeconds = LEASE_SECONDS, signal } = checked(options);
  const { onJobError = printJobError(list.id), onClaimLost = printLostClaim(list.id) } = options;
  const broken = new AbortController();
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
  const onBroken = (cause: unknown): void => broken.abort(cause);
  const onComplete = (): void => over.abort();
  const reports = { onJobError, onClaimLost, onBroken, onComplete };
  const work: Work<Payload> = { handler, concurrency, leaseSeconds, stop, ...reports };
  const claims: Worked[] = [];
  const one = async (): Promise<LoopEnd['ended']> => {
    try {
      return await claimer(list, work, over.signal, options, claims);
    } catch (cause) {
      onBroken(cause);
      return 'aborted';
    }
  };
  const ends = await Promise.all(Array.from({ length: claimers }, one));
  broken.signal.throwIfAborted();
  const ended = (['complete', 'cancelled', 'aborted'] as const).find((end) => ends.includes(end)) ?? 'drained';
  return { ended, claims: claims.length, ...sumOf(claims) };
};

/**
 * Checks the options.
 * @throws RangeError
 */
const checked = (options: ClaimLoopOptions): ClaimLoopOptions => {
  const { count, leaseSeconds = LEASE_SECONDS, concurrency = 1, claimers = 1, claimIdPrefix = 'worker' } = options;
  const wholes = { count: [count, 1_000], leaseSeconds: [leaseSeconds, 43_200], concurrency: [concurrency, 1_000] };
  for (const [name, [value = 0, most = 0]] of Object.entries({ ...wholes, claimers: [claimers, 64] }))
    if (!Number.isSafeInteger(value) || value < 1 || value > most)
      throw new RangeError(`${name} must be a whole number from 1 to ${most}, not ${value}`);
  if (options.holder !== undefined && !HOLDER_PATTERN.test(options.holder))
    throw new RangeError(`holder must have 1 to ${HOLDER_MAX} visible ASCII characters`);
  if (claimIdPrefix.length > 32 || parseClaimId(`${claimIdPrefix}-`) === undefined || claimIdPrefix === '')
    throw new RangeError(`claimIdPrefix must have 1 to 32 characters, and a claimId ${CLAIM_ID_RULE}`);
  return options;
};

/** Runs one claimer until it ends. */
const claimer = async <Payload extends object>(
  list: DeferredList<Payload>,
  work: Work<Payload>,
  over: AbortSignal,
  { count, claimIdPrefix = 'worker', holder = thisProcess() }: ClaimLoopOptions,
  claims: Worked[],
): Promise<LoopEnd['ended']> => {
  const { stop, leaseSeconds } = work;
  const awake = AbortSignal.any([stop, over]);
  const next = () => ({ claimId: `${claimIdPrefix}-${newId()}`, since: performance.now() });
  let wanted = next();
  let pause = FIRST_PAUSE;
  let errorPause = FIRST_ERROR_PAUSE;
  while (!awake.aborted) {
    const { claimId, since } = wanted;
    const answer = await ask(list, { count, leaseSeconds, claimId, holder, signal: stop });
    if (typeof answer === 'object') {
      const { isAllErrors, ...worked } = await workOff(answer, since, work);
      claims.push(worked);
      if (isAllErrors) await rest(errorPause * (0.5 + Math.random() / 2), awake);
      errorPause = isAllErrors ? Math.min(LONGEST_ERROR_PAUSE, 2 * errorPause) : FIRST_ERROR_PAUSE;
    } else if (answer !== 'nothing' && answer !== 'busy') return answer;
    // Keep the claimId after 'busy': an earlier answer, which was lost, may have granted jobs to this claimId. After
    // 'nothing' the claimId has no jobs.
    if (answer !== 'busy') wanted = next();
    if (typeof answer === 'object') pause = FIRST_PAUSE;
    else {
      await rest(pause * (0.5 + Math.random() / 2), awake);
      pause = Math.min(LONGEST_PAUSE, 2 * pause);
    }
  }
  return stop.aborted ? 'aborted' : 'complete';
};

/**
 * Claims jobs. Returns `nothing` if jobs may come later, and `busy` if the API gave no definite answer. Otherwise
 * returns why no jobs will come.
 */
const ask = async <Payload extends object>(
  list: DeferredList<Payload>,
  wanted: Parameters<DeferredList<Payload>['claim']>[0],
): Promise<Claim<Payload> | 'nothing' | 'busy' | LoopEnd['ended']> => {
  try {
    const answer = await list.claim(wanted);
    if (answer.kind === 'claimed') return answer;
    if (answer.status === 'complete') return 'complete';
    return answer.status === 'sealed' ? await whetherDrained(list) : 'nothing';
  } catch (cause) {
    if (wanted.signal?.aborted && cause === wanted.signal.reason) return 'aborted';
    // Too many workers make claims at the same time, or the request exceeds a limit of the API. A later claim can
    // succeed.
    if (cause instanceof ApiUnavailable && (cause.status === 503 || cause.status === 429)) return 'busy';
    if (cause instanceof ApiRefused && cause.status === 409 && (await list.get()).status === 'cancelled')
      return 'cancelled';
    throw cause;
  }
};

/**
 * Whether no job of a list can be claimed any more: the list is sealed, and none of its jobs is available or leased. No
 * job then returns to the pool.
 */
const whetherDrained = async <Payload extends object>(
  list: DeferredList<Payload>,
): Promise<'nothing' | LoopEnd['ended']> => {
  const { status, available, leased } = await list.get();
  if (status === 'complete' || status === 'cancelled') return status;
  return available === 0 && leased === 0 ? 'drained' : 'nothing';
};

const sumOf = (claims: readonly Worked[]): Worked => {
  const sum = (count: keyof Worked): number => claims.reduce((all, each) => all + each[count], 0);
  return { succeeded: sum('succeeded'), failed: sum('failed'), released: sum('released'), lost: sum('lost') };
};
