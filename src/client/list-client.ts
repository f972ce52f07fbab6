/** The client for deferred lists. The function that sends its requests is passed in. */

import { CLAIM_ID_RULE, claimId as parseClaimId } from '../domain/lists/ids.ts';
import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { isObject } from '../util/json-text.ts';
import { type Ask, notAllAdded } from './ask.ts';
import { isTokenOfCalls, TOKEN_OF_CALLS_RULE } from './fan-out-calls.ts';
import {
  type AddedJobs,
  type AttemptedJob,
  addCall,
  completeCalls,
  type DeletedList,
  type DoneJob,
  inCalls,
  jobsFrom,
  type ListedClaim,
  type ListedJob,
  type ListView,
  listPath,
  type ReleasedJobs,
} from './list-calls.ts';

/** A job that the API would refuse. No job of the same call was sent. */
export class UnsendableJob extends Error {
  override readonly name = 'UnsendableJob';
  /** Position of the job in the jobs that the caller gave, from 0. */
  readonly index: number;
  constructor(index: number, reason: string) {
    super(`job ${index}: ${reason}`);
    this.index = index;
  }
}

/**
 * Generates the payloads as JSON texts.
 * @throws UnsendableJob
 */
async function* jobTexts(payloads: Iterable<object> | AsyncIterable<object>) {
  let index = 0;
  for await (const payload of payloads) {
    if (!isObject(payload)) throw new UnsendableJob(index, 'its payload must be an object');
    const text = JSON.stringify(payload);
    const bytes = Buffer.byteLength(text);
    if (bytes > PAYLOAD_MAX_BYTES)
      throw new UnsendableJob(index, `its payload has ${bytes} bytes, more than the limit of ${PAYLOAD_MAX_BYTES}`);
    yield { text };
    index += 1;
  }
}

/** A list to create. */
export interface ListToCreate {
  /**
   * Id of the list: 1 to 64 characters of A-Z a-z 0-9 . _ @ -. Generated if absent. If the same list exists already,
   * that list is opened again.
   */
  readonly id?: string;
  /**
   * The operation of the tasks that jobs become when they are triggered. Without an operation, workers claim the jobs.
   */
  readonly operation?: string;
  /** A name for people: 1 to 64 bytes. The API shows it with the list, and the callback contains it. */
  readonly name?: string;
  /**
   * The configured destination that gets the callback when the list ends. @default - the destination that the
   * configuration names, if any
   */
  readonly callback?: string;
  /**
   * How often workers get a job that they do not end, before it fails: 1 to 100. @default - the configured number, 5 if
   * it names none
   */
  readonly maxDeliveries?: number;
}

/** Options of {@link DeferredList.add}. */
export interface AddJobsOptions {
  /**
   * Token of the addition: 1 to 48 characters. If the same jobs are added again with the same token, for example after
   * a crash, no job is added twice. Generated if absent.
   */
  readonly token?: string;
  /** Called with the number of jobs added so far. */
  readonly onProgress?: (added: number) => void;
}

/** Options of {@link DeferredList.trigger}. */
export interface TriggerOptions {
  /**
   * Token of the trigger: 1 to 48 characters. A repeated trigger with the same token has no further effect. Generated
   * if absent.
   */
  readonly token?: string;
}

/** Options of {@link DeferredList.claim}. */
export interface ClaimOptions {
  /** Maximum number of jobs of the claim: 1 to 1,000. */
  readonly count: number;
  /** Lease of the claim, in seconds: 1 to 43,200. */
  readonly leaseSeconds: number;
  /** Id of the claim. A repeated claim with the same id returns the same jobs. Generated if absent. */
  readonly claimId?: string;
  /** Who claims, for people: 1 to 32 visible ASCII characters. `groupage lists claims` shows it. */
  readonly holder?: string;
  /** After the signal aborts, a request that got no answer is not repeated. */
  readonly signal?: AbortSignal;
}

/** A claimed job. */
export interface ClaimedJob<Payload extends object> {
  readonly token: number;
  /** How often workers got the job, this time included. */
  readonly deliveries: number;
  readonly payload: Payload;
}

/**
 * Claimed jobs. No other worker gets them until `expiresAt`. After another worker has got the jobs, the API refuses the
 * calls of this claim with 409.
 */
export interface Claim<Payload extends object> {
  readonly kind: 'claimed';
  /** Id of the claim in the API. */
  readonly id: string;
  readonly jobs: readonly ClaimedJob<Payload>[];
  readonly expiresAt: string;
  /** When other workers can claim the jobs: a minute after `expiresAt`, because clocks differ. */
  readonly availableAgainAt: string;
  /**
   * Extends the lease to `leaseSeconds` from now.
   * @param signal after it aborts, a request that got no answer is not repeated
   */
  renew(leaseSeconds: number, signal?: AbortSignal): Promise<Pick<Claim<Payload>, 'expiresAt' | 'availableAgainAt'>>;
  /**
   * Completes jobs of the claim. Without `jobs`, all of its jobs succeed.
   * @returns whether the list is complete
   */
  complete(jobs?: readonly DoneJob[]): Promise<{ readonly complete: boolean }>;
  /**
   * Returns jobs that are not done to the pool. @param attempted the jobs that the worker has begun: this delivery
   * counts for them, but for no other job. If absent, it counts for all jobs.
   */
  release(attempted?: readonly AttemptedJob[]): Promise<ReleasedJobs>;
}

/**
 * No job can be claimed now. The list's status and the number of leased jobs show whether jobs may become available
 * later.
 */
export interface NothingToClaim {
  readonly kind: 'none';
  readonly status: ListView['status'];
}

/**
 * A deferred list. Its calls throw ApiRefused (404: the list does not exist; 409: its state forbids the call) and
 * ApiUnavailable. `add` throws NotAllAdded.
 */
export interface DeferredList<Payload extends object> {
  readonly id: string;
  /**
   * Adds any number of jobs, in calls of up to 1,000 jobs or 4 MB. The jobs of one call are added all at once.
   *
   * @returns the jobs that each call added
   * @throws NotAllAdded if a job may have been added; it has the token with which the same addition continues.
   * Otherwise UnsendableJob, ApiRefused, or an error of the iterable; RangeError for an invalid token
   */
  add(jobs: Iterable<Payload> | AsyncIterable<Payload>, options?: AddJobsOptions): Promise<readonly AddedJobs[]>;
  /** Reads the list's state and counts. */
  get(): Promise<ListView>;
  /**
   * Reads the jobs with their outcomes, in order.
   * @param from token of the first job to read
   * @param status only jobs with this status
   */
  jobs(from?: number, status?: ListedJob['status']): AsyncIterable<ListedJob>;
  /**
   * Seals the list: no more jobs can be added, and the list completes when its last job is done. Sealing again does no
   * harm.
   */
  seal(): Promise<ListView>;
  /** Cancels the list: waiting jobs never start, and running jobs finish. A repeated call does no harm. */
  cancel(): Promise<ListView>;
  /** Deletes the list and everything stored for it, without a callback. A repeated call does no harm. */
  delete(): Promise<DeletedList>;
  /**
   * Turns jobs into tasks of the list's operation: `count` jobs, or `percent` of all jobs of the list. If fewer jobs
   * are waiting, all waiting jobs become tasks.
   *
   * @returns the number of jobs triggered, and the number left
   */
  trigger(
    wanted: { readonly count: number } | { readonly percent: number },
    options?: TriggerOptions,
  ): Promise<{ readonly triggered: number; readonly left: number }>;
  /** Reads the claims whose jobs no other claim has taken, with their holders. */
  claims(): Promise<readonly ListedClaim[]>;
  /**
   * Ends a claim, for example of a worker that died: others can claim its jobs at once. If its worker lives, it may
   * still work on a job until its next call. @param claim as in {@link ListedClaim}, or the id of the claim
   * @throws ApiRefused (404: the list has no such claim)
   */
  breakClaim(claim: string): Promise<{ readonly released: number }>;
  /** Claims jobs for a worker. */
  claim(options: ClaimOptions): Promise<Claim<Payload> | NothingToClaim>;
}

/** A client for deferred lists. Made by `createListClient`. */
export interface ListClient {
  /**
   * Creates a list.
   * @throws ApiRefused (409: another list has this id), ApiUnavailable
   */
  createList<Payload extends object = Record<string, unknown>>(fields?: ListToCreate): Promise<DeferredList<Payload>>;
  /**
   * Returns a list that was created before, for example by another process. Sends no request, so it does not check that
   * the list exists.
   */
  list<Payload extends object = Record<string, unknown>>(id: string): DeferredList<Payload>;
}

/**
 * Creates a client for deferred lists.
 * @param ask sends the requests
 * @param newId generates ids and tokens that the caller omits
 */
export const listsBy = (ask: Ask, newId: () => string): ListClient => ({
  // The client generates the id, so that it can repeat the call if the answer is lost.
  createList: async ({ id = newId(), ...fields } = {}) => {
    await ask('/lists', { id, ...fields }, { name: id });
    return deferredList(ask, newId, id);
  },
  list: (id) => deferredList(ask, newId, id),
});

const deferredList = <Payload extends object>(ask: Ask, newId: () => string, id: string): DeferredList<Payload> => {
  const path = listPath(id);
  const view = async (answer: Promise<unknown>): Promise<ListView> => (await answer) as ListView;
  return {
    id,
    add: async (jobs, { token = newId(), onProgress } = {}) => {
      checkToken(token);
      const added: AddedJobs[] = [];
      let sum = 0;
      try {
        for await (const call of inCalls(jobTexts(jobs))) {
          added.push(await addCall(ask, id, call, token, added.length));
          sum += call.length;
          onProgress?.(sum);
        }
        return added;
      } catch (cause) {
        throw notAllAdded(token, sum, cause);
      }
    },
    get: () => view(ask(path, undefined, { method: 'GET' })),
    jobs: (from = 0, status) => jobsFrom(ask, id, from, status),
    seal: () => view(ask(`${path}/seal`)),
    cancel: () => view(ask(`${path}/cancel`)),
    delete: async () => (await ask(path, undefined, { method: 'DELETE' })) as DeletedList,
    trigger: async (wanted, { token = newId() } = {}) => {
      checkToken(token);
      return (await ask(`${path}/triggers`, { ...wanted, token }, { name: token })) as {
        triggered: number;
        left: number;
      };
    },
    claims: async () =>
      ((await ask(`${path}/claims`, undefined, { method: 'GET' })) as { readonly claims: readonly ListedClaim[] })
        .claims,
    breakClaim: async (claim) =>
      (await ask(`${path}/claims/${encodeURIComponent(claim)}`, undefined, { method: 'DELETE' })) as {
        released: number;
      },
    claim: ({ claimId = newId(), ...wanted }) => claimOf(ask, path, { ...wanted, claimId }),
  };
};

/**
 * Checks a token.
 * @throws RangeError
 */
const checkToken = (token: string): void => {
  if (!isTokenOfCalls(token)) throw new RangeError(`a token must be ${TOKEN_OF_CALLS_RULE}`);
};

/** When a lease ends. */
type Ends = 'expiresAt' | 'availableAgainAt';

const claimOf = async <Payload extends object>(
  ask: Ask,
  list: string,
  { signal, claimId, ...wanted }: ClaimOptions & { readonly claimId: string },
): Promise<Claim<Payload> | NothingToClaim> => {
  if (parseClaimId(claimId) === undefined) throw new RangeError(`a claimId ${CLAIM_ID_RULE}`);
  const answer = (await ask(
    `${list}/claims`,
    { ...wanted, claimId },
    { name: claimId, ...(signal ? { signal } : {}) },
  )) as (Pick<Claim<Payload>, 'jobs' | Ends> & { readonly claimId: string }) | Pick<NothingToClaim, 'status'>;
  if (!('claimId' in answer)) return { kind: 'none', status: answer.status };
  const path = `${list}/claims/${encodeURIComponent(answer.claimId)}`;
  return {
    kind: 'claimed',
    id: answer.claimId,
    jobs: answer.jobs,
    expiresAt: answer.expiresAt,
    availableAgainAt: answer.availableAgainAt,
    renew: async (leaseSeconds, stop) =>
      (await ask(path, { leaseSeconds }, { method: 'PUT', ...(stop ? { signal: stop } : {}) })) as Pick<
        Claim<Payload>,
        Ends
      >,
    complete: (jobs) => completeCalls(ask, path, jobs),
    release: async (attempted) =>
      (await ask(`${path}/release`, attempted === undefined ? undefined : { attempted })) as ReleasedJobs,
  };
};
