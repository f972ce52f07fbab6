/**
 * Operations on deferred lists that need several API calls. Jobs are added in parts, without adding a job twice, and
 * are read page by page.
 */

import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { bytesInString } from '../util/json-text.ts';
import type { Ask } from './ask.ts';

/** Path of a list in the API. */
export const listPath = (list: string): string => `/lists/${encodeURIComponent(list)}`;

/** The state of a list. */
export interface ListView {
  readonly id: string;
  readonly status: 'open' | 'sealed' | 'complete' | 'cancelled';
  readonly operation?: string;
  readonly name?: string;
  readonly maxDeliveries?: number;
  readonly total: number;
  /** Jobs that can be claimed or triggered now. */
  readonly available: number;
  /** Jobs that a worker has claimed and not completed. */
  readonly leased: number;
  /**
   * Jobs that have become tasks and are not done. `started` and the two counts after it are absent if more than about
   * two million jobs are not done.
   */
  readonly started?: number;
  readonly done?: number;
  readonly succeeded?: number;
  readonly failed: number;
  /** True if `failed` is only a lower bound, because there are too many jobs to count. */
  readonly countsAreAtLeast?: boolean;
  readonly createdAt: string;
  readonly endedAt?: string;
}

/** A deleted list, with its state before the deletion. The counts are absent if the list had been deleted before. */
export type DeletedList = Pick<ListView, 'id' | 'total' | 'createdAt'> &
  Partial<Omit<ListView, 'status'>> & { readonly status: 'deleted' };

/** A job and its outcome. */
export interface ListedJob {
  readonly token: number;
  readonly status: 'waiting' | 'leased' | 'started' | 'succeeded' | 'failed';
  /** How often workers got the job, if it is waiting or leased and was handed out before. */
  readonly deliveries?: number;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Id of the task that the job became. */
  readonly task?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Maximum number of jobs, and of bytes, of one call that adds or completes jobs. Bytes count as Lambda counts them: the
 * body is a JSON string inside Lambda's event, so each quotation mark counts twice.
 */
const AT_ONCE = 1_000;
const BYTES_AT_ONCE = 4_000_000;
/** A call with this number of bytes takes no more jobs, because the largest payload might no longer fit. */
const FULL_BYTES = BYTES_AT_ONCE - 2 * PAYLOAD_MAX_BYTES - 1_000;

/**
 * Splits jobs into parts, one part per call. Where a part ends depends only on its own jobs, not on the next job. If a
 * job is corrected or left out, the parts before it and their tokens therefore stay the same.
 */
export async function* inCalls<Part extends { readonly text: string }>(
  jobs: Iterable<Part> | AsyncIterable<Part>,
): AsyncGenerator<Part[]> {
  let call: Part[] = [];
  let bytes = 0;
  for await (const job of jobs) {
    call.push(job);
    bytes += bytesInString(job.text) + 20;
    if (call.length < AT_ONCE && bytes < FULL_BYTES) continue;
    yield call;
    [call, bytes] = [[], 0];
  }
  if (call.length > 0) yield call;
}

/** The jobs that one call added. Their tokens are consecutive. */
export interface AddedJobs {
  /** Token of the first job. */
  readonly first: number;
  readonly count: number;
  /** Number of jobs in the list after the call. */
  readonly total: number;
}

/**
 * Adds the jobs of one call. Either all of these jobs are added, or none.
 *
 * @param payloads JSON texts, which are sent unchanged
 * @param n the number of the call
 */
export const addCall = async (
  ask: Ask,
  list: string,
  payloads: readonly { readonly text: string }[],
  token: string,
  n: number,
): Promise<AddedJobs> => {
  const jobs = payloads.map(({ text }) => `{"payload":${text}}`).join(',');
  const body = `{"token":${JSON.stringify(`${token}.${n}`)},"jobs":[${jobs}]}`;
  return (await ask(`${listPath(list)}/jobs`, body)) as AddedJobs;
};

/** Reads the jobs from a token on, page by page: all, or those with one status. */
export async function* jobsFrom(
  ask: Ask,
  list: string,
  from: number,
  status?: ListedJob['status'],
): AsyncGenerator<ListedJob> {
  let next: number | undefined = from;
  while (next !== undefined) {
    const query = new URLSearchParams({ from: String(next), limit: '500', ...(status ? { status } : {}) });
    const page = (await ask(`${listPath(list)}/jobs?${query}`, undefined, { method: 'GET' })) as {
      readonly jobs: readonly ListedJob[];
      readonly next?: number;
    };
    yield* page.jobs;
    next = page.next;
  }
}

/** A job that a worker began and did not end. */
export interface AttemptedJob {
  readonly token: number;
  /** The job's error if this was its last delivery. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The answer to a release. */
export interface ReleasedJobs {
  /** Number of jobs that other workers can claim now. */
  readonly released: number;
  /** Number of attempted jobs that failed, because this was their last delivery. */
  readonly failed: number;
  /** Whether the list is complete. */
  readonly complete: boolean;
}

/** A claim of a list, as people see it. */
export interface ListedClaim {
  /** Names the claim, for {@link DeferredList.breakClaim}. */
  readonly claim: string;
  readonly holder?: string;
  readonly since?: string;
  /**
   * `running`: its lease has not ended. `ended`: only its worker can continue, until `availableAgainAt`. `available`:
   * others can claim the jobs.
   */
  readonly state: 'running' | 'ended' | 'available';
  readonly expiresAt: string;
  readonly availableAgainAt: string;
  /** Number of its jobs that are not done. */
  readonly jobs: number;
  readonly deliveries: number;
  readonly ranges: readonly { readonly first: number; readonly count: number }[];
}

/** A finished job and its outcome. */
export interface DoneJob {
  readonly token: number;
  /** @default succeeded */
  readonly status?: 'succeeded' | 'failed';
  /** Any JSON value. */
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Completes jobs of a claim. Returns whether the list is complete, according to the answer to the last part.
 *
 * @param jobs if undefined, all jobs of the claim are completed as succeeded
 */
export const completeCalls = async (
  ask: Ask,
  claim: string,
  jobs?: readonly DoneJob[],
): Promise<{ readonly complete: boolean }> => {
  const path = `${claim}/complete`;
  if (!jobs) return (await ask(path, {})) as { complete: boolean };
  let answer = { complete: false };
  for await (const part of inCalls(jobs.map((job) => ({ text: JSON.stringify(job) }))))
    answer = (await ask(path, `{"jobs":[${part.map(({ text }) => text).join(',')}]}`)) as { complete: boolean };
  return answer;
};
