/**
 * What deferred lists take in several calls of the API: jobs are added a part at a time, none twice, and read page by
 * page.
 */

import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { bytesInString } from '../util/json-text.ts';
import type { Ask } from './ask.ts';

/** Where a list is in the API. */
export const listPath = (list: string): string => `/lists/${encodeURIComponent(list)}`;

/** A list as it stands. */
export interface ListView {
  readonly id: string;
  readonly status: 'open' | 'sealed' | 'complete' | 'cancelled';
  readonly operation?: string;
  readonly name?: string;
  readonly total: number;
  /** Jobs that could be handed out now. */
  readonly available: number;
  /** Jobs that somebody has claimed, and not done. */
  readonly leased: number;
  /**
   * Jobs that are tasks by now, and not done. This and the next two are left out where more than some two million jobs
   * are not done.
   */
  readonly started?: number;
  readonly done?: number;
  readonly succeeded?: number;
  readonly failed: number;
  /** There may be more that failed: they are too many to be counted. */
  readonly countsAreAtLeast?: boolean;
  readonly createdAt: string;
  readonly endedAt?: string;
}

/** A list that was deleted, as it stood; without counts where it was deleted before. */
export type DeletedList = Pick<ListView, 'id' | 'total' | 'createdAt'> &
  Partial<Omit<ListView, 'status'>> & { readonly status: 'deleted' };

/** A job, and what became of it. */
export interface ListedJob {
  readonly token: number;
  readonly status: 'waiting' | 'leased' | 'started' | 'succeeded' | 'failed';
  readonly payload: Readonly<Record<string, unknown>>;
  /** The task that it became. */
  readonly task?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Jobs that one call takes, to add them or as done; none has more bytes, as Lambda counts them: in its event the body
 * is a JSON string, and every quote of it counts twice.
 */
const AT_ONCE = 1_000;
const BYTES_AT_ONCE = 4_000_000;
/** A call with so much is full: the largest payload might not fit any more. */
const FULL_BYTES = BYTES_AT_ONCE - 2 * PAYLOAD_MAX_BYTES - 1_000;

/**
 * Jobs in parts that a call takes. A part ends by what is in it, never by what comes next: those before a job that is
 * mended, or left out, stay as they were, and so do their tokens.
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

/** What one call added: jobs in a row. */
export interface AddedJobs {
  /** The token of the first. */
  readonly first: number;
  readonly count: number;
  /** How many jobs the list has then. */
  readonly total: number;
}

/**
 * Adds the jobs of one call, all of them or none. @param payloads JSON texts, which go in as they are @param n the
 * call's number
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

/** All jobs from one on, page by page. */
export async function* jobsFrom(ask: Ask, list: string, from: number, limit = 500): AsyncGenerator<ListedJob> {
  let next: number | undefined = from;
  while (next !== undefined) {
    const query = new URLSearchParams({ from: String(next), limit: String(limit) });
    const page = (await ask(`${listPath(list)}/jobs?${query}`, undefined, { method: 'GET' })) as {
      readonly jobs: readonly ListedJob[];
      readonly next?: number;
    };
    yield* page.jobs;
    next = page.next;
  }
}

/** A job that is done, and how it ended. */
export interface DoneJob {
  readonly token: number;
  /** @default succeeded */
  readonly status?: 'succeeded' | 'failed';
  /** Anything that JSON can say. */
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * Whether the list is complete with these; the answer to the last part counts. @param jobs undefined: all of the
 * claim's, which have succeeded
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
