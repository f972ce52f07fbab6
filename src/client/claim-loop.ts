/**
 * The loop of a worker that pulls: it claims jobs of a list, does them, and claims the next, until there are none.
 *
 * Each of its claimers goes
 *
 *     claiming ──jobs──▶ working (claim-work.ts) ──▶ claiming
 *        │  ▲
 *        │  └──a pause, longer each time───┐
 *        ├──nothing, or too many claim──▶ waiting
 *        └──no more to come──▶ ended
 *
 * - claiming: under one claimId until it is answered, so that jobs which were granted in an answer that was lost are
 *   had by asking again.
 * - waiting: others may give jobs back, or die with them, and more may be added. Somebody who completes the list, or
 *   stops the loop, wakes it.
 * - ended: the list is complete or cancelled; or sealed with nothing to be had, and claimed by nobody, so that
 *   nothing can come back; or the loop stops. It stops by its signal, or by an error: a handler's that is not
 *   JobFailed, or the API's that asking again does not help. Then all claimers give back what they have, and end.
 */
import { monotonicFactory } from 'ulid';
import { CLAIM_ID_RULE, claimId as parseClaimId } from '../domain/lists/ids.ts';
import { ApiRefused, ApiUnavailable, rest } from './ask-api.ts';
import { type HandledJob, type Work, type Worked, workOff } from './claim-work.ts';
import type { Claim, DeferredList } from './list-client.ts';

export type { HandledJob } from './claim-work.ts';

export interface ClaimLoopOptions {
  /** Jobs that one claim has at the most: 1 to 1,000. */
  readonly count: number;
  /**
   * How long a claim is kept for whoever does not renew it any more: 1 to 43,200. Each claim is renewed in time while
   * its jobs are done.
   */
  readonly leaseSeconds: number;
  /** Jobs of one claim that the handler gets at once. @default 1 */
  readonly concurrency?: number;
  /** Claims that are worked on at once. A list has 64 at the most, of all workers. @default 1 */
  readonly claimers?: number;
  /** Ends the loop: what is not done is given back. */
  readonly signal?: AbortSignal;
  /** Claim ids begin with it: 1 to 32 characters of A-Z a-z 0-9 _ @ -. @default worker */
  readonly claimIdPrefix?: string;
}

/** What the loop did, and why it ended: `drained`, where the list is sealed and nobody has jobs that might come back. */
export interface LoopEnd extends Worked {
  readonly ended: 'complete' | 'cancelled' | 'drained' | 'aborted';
  readonly claims: number;
}

/** Pauses while there is nothing (ms): each up to twice as long as the one before. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [250, 10_000];

const newId = monotonicFactory();

/**
 * Works on a list until it is complete, cancelled or drained, or the signal aborts.
 *
 * @param handler does one job. What it answers is the job's result; a job that has failed throws JobFailed. With any
 * other error the loop ends, and the job is given back.
 * @throws RangeError, ApiRefused, ApiUnavailable, whatever the handler throws: after what is not done was given back.
 */
export const claimLoop = async <Payload extends object>(
  list: DeferredList<Payload>,
  handler: (job: HandledJob<Payload>) => unknown,
  options: ClaimLoopOptions,
): Promise<LoopEnd> => {
  const { claimers = 1, concurrency = 1, leaseSeconds, signal } = checked(options);
  const broken = new AbortController();
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
  const onBroken = (cause: unknown): void => broken.abort(cause);
  const onComplete = (): void => over.abort();
  const work: Work<Payload> = { handler, concurrency, leaseSeconds, stop, onBroken, onComplete };
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

/** @throws RangeError */
const checked = (options: ClaimLoopOptions): ClaimLoopOptions => {
  const { count, leaseSeconds, concurrency = 1, claimers = 1, claimIdPrefix = 'worker' } = options;
  const wholes = { count: [count, 1_000], leaseSeconds: [leaseSeconds, 43_200], concurrency: [concurrency, 1_000] };
  for (const [name, [value = 0, most = 0]] of Object.entries({ ...wholes, claimers: [claimers, 64] }))
    if (!Number.isSafeInteger(value) || value < 1 || value > most)
      throw new RangeError(`${name} is a whole number from 1 to ${most}, not ${value}`);
  if (claimIdPrefix.length > 32 || parseClaimId(`${claimIdPrefix}-`) === undefined || claimIdPrefix === '')
    throw new RangeError(`claimIdPrefix has 1 to 32 characters, and with it a claimId ${CLAIM_ID_RULE}`);
  return options;
};

/** One claimer, to its end. */
const claimer = async <Payload extends object>(
  list: DeferredList<Payload>,
  work: Work<Payload>,
  over: AbortSignal,
  { count, leaseSeconds, claimIdPrefix = 'worker' }: ClaimLoopOptions,
  claims: Worked[],
): Promise<LoopEnd['ended']> => {
  const { stop } = work;
  const awake = AbortSignal.any([stop, over]);
  const next = () => ({ claimId: `${claimIdPrefix}-${newId()}`, since: performance.now() });
  let wanted = next();
  let pause = FIRST_PAUSE;
  while (!awake.aborted) {
    const { claimId, since } = wanted;
    const answer = await ask(list, { count, leaseSeconds, claimId, signal: stop });
    if (typeof answer === 'object') claims.push(await workOff(answer, since, work));
    else if (answer !== 'nothing' && answer !== 'busy') return answer;
    // Of an earlier answer, which was lost, it may have jobs; where there is nothing it has none.
    if (answer !== 'busy') wanted = next();
    if (typeof answer === 'object') pause = FIRST_PAUSE;
    else {
      await rest(pause * (0.5 + Math.random() / 2), awake);
      pause = Math.min(LONGEST_PAUSE, 2 * pause);
    }
  }
  return stop.aborted ? 'aborted' : 'complete';
};

/** Jobs; `nothing` where there may be some later, `busy` where nobody knows; otherwise why there will be none. */
const ask = async <Payload extends object>(
  list: DeferredList<Payload>,
  wanted: Parameters<DeferredList<Payload>['claim']>[0],
): Promise<Claim<Payload> | 'nothing' | 'busy' | LoopEnd['ended']> => {
  try {
    const answer = await list.claim(wanted);
    if (answer.kind === 'claimed') return answer;
    if (answer.status === 'complete') return 'complete';
    return answer.status === 'sealed' ? await whatIsLeft(list) : 'nothing';
  } catch (cause) {
    if (wanted.signal?.aborted && cause === wanted.signal.reason) return 'aborted';
    // Too many claim at once, or more is asked for than is taken: later there is room.
    if (cause instanceof ApiUnavailable && (cause.status === 503 || cause.status === 429)) return 'busy';
    if (cause instanceof ApiRefused && cause.status === 409 && (await list.get()).status === 'cancelled')
      return 'cancelled';
    throw cause;
  }
};

/** Of a sealed list: what nobody has, and nobody can get, comes back no more. */
const whatIsLeft = async <Payload extends object>(
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
