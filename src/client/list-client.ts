/** What a client of deferred lists does, however its requests are carried. */

import { CLAIM_ID_RULE, claimId as parseClaimId } from '../domain/lists/ids.ts';
import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';
import { isObject } from '../util/json-text.ts';
import { type Ask, notAllAdded } from './ask.ts';
import { isTokenOfCalls, TOKEN_OF_CALLS_RULE } from './fan-out-calls.ts';
import {
  type AddedJobs,
  addCall,
  completeCalls,
  type DeletedList,
  type DoneJob,
  inCalls,
  jobsFrom,
  type ListedJob,
  type ListView,
  listPath,
} from './list-calls.ts';

/** A job that would be refused: nothing of its call was sent. */
export class UnsendableJob extends Error {
  override readonly name = 'UnsendableJob';
  /** Its position among the jobs given. */
  readonly index: number;
  constructor(index: number, reason: string) {
    super(`job ${index}: ${reason}`);
    this.index = index;
  }
}

/** The payloads as JSON texts. @throws UnsendableJob */
async function* jobTexts(payloads: Iterable<object> | AsyncIterable<object>) {
  let index = 0;
  for await (const payload of payloads) {
    if (!isObject(payload)) throw new UnsendableJob(index, 'its payload must be an object');
    const text = JSON.stringify(payload);
    const bytes = Buffer.byteLength(text);
    if (bytes > PAYLOAD_MAX_BYTES)
      throw new UnsendableJob(index, `its payload has ${bytes} bytes, at most ${PAYLOAD_MAX_BYTES} are taken`);
    yield { text };
    index += 1;
  }
}

export interface ListToCreate {
  /**
   * 1 to 64 characters of A-Z a-z 0-9 . _ @ -. Made up if absent. One that is there already, and is the same, is opened
   * again.
   */
  readonly id?: string;
  /**
   * The operation of the tasks that its jobs become when they are triggered. Without one they are for workers that
   * claim them.
   */
  readonly operation?: string;
  /** Shown with it, and told at its end. 1 to 64 bytes. */
  readonly name?: string;
  /** The configured destination that is told of its end. @default - the configuration's, if it has one */
  readonly callback?: string;
}

export interface AddJobsOptions {
  /**
   * Names the addition, in 1 to 48 characters: who adds the same jobs again with it, after a crash say, adds none
   * twice. Made up if absent.
   */
  readonly token?: string;
  /** Is told how many jobs have been added so far. */
  readonly onProgress?: (added: number) => void;
}

export interface TriggerOptions {
  /** Names the trigger, in 1 to 48 characters: made again with the same one it does nothing more. Made up if absent. */
  readonly token?: string;
}

export interface ClaimOptions {
  /** As many jobs as that at the most: 1 to 1,000. */
  readonly count: number;
  /** For how long: 1 to 43,200. */
  readonly leaseSeconds: number;
  /** Names the claim: who claims again with the same one gets the same jobs. Made up if absent. */
  readonly claimId?: string;
  /** Once it aborts the API is not asked again where no answer came. */
  readonly signal?: AbortSignal;
}

/** A job that was claimed. */
export interface ClaimedJob<Payload extends object> {
  readonly token: number;
  readonly payload: Payload;
}

/**
 * Jobs that nobody else gets until `expiresAt`. Each of its calls may be refused with 409 once they are not its own any
 * more.
 */
export interface Claim<Payload extends object> {
  readonly kind: 'claimed';
  /** The handle of the claim. */
  readonly id: string;
  readonly jobs: readonly ClaimedJob<Payload>[];
  readonly expiresAt: string;
  /** From now on, for so long. @param signal once it aborts the API is not asked again where no answer came */
  renew(leaseSeconds: number, signal?: AbortSignal): Promise<{ readonly expiresAt: string }>;
  /** Jobs of it are done; without any named, all of them, and well. @returns whether the list is complete. */
  complete(jobs?: readonly DoneJob[]): Promise<{ readonly complete: boolean }>;
  /** What is not done goes back to the pool. */
  release(): Promise<{ readonly released: number }>;
}

/** There is nothing to be had now; whether there will be, its status says, and what others have. */
export interface NothingToClaim {
  readonly kind: 'none';
  readonly status: ListView['status'];
}

/** A list. Its calls throw ApiRefused (404: there is none; 409: its state forbids it) and ApiUnavailable; `add` throws NotAllAdded. */
export interface DeferredList<Payload extends object> {
  readonly id: string;
  /**
   * Adds any number of jobs, a call for each 1,000 or 4 MB of them: those of one call all at once.
   *
   * @returns what each call added.
   * @throws NotAllAdded once a job was added, or may have been: it has the token with which the same addition goes on.
   * Before that: UnsendableJob, ApiRefused, what the iterable throws; RangeError for a token that cannot be one.
   */
  add(jobs: Iterable<Payload> | AsyncIterable<Payload>, options?: AddJobsOptions): Promise<readonly AddedJobs[]>;
  get(): Promise<ListView>;
  /** Its jobs, and what became of them, in order. */
  jobs(from?: number): AsyncIterable<ListedJob>;
  /** Nothing is added any more: it completes with its last job. Again is harmless. */
  seal(): Promise<ListView>;
  /** What waits never starts; what runs finishes. Again is harmless. */
  cancel(): Promise<ListView>;
  /** Ends it without telling anybody, with all that was stored. Again is harmless. */
  delete(): Promise<DeletedList>;
  /**
   * So many jobs become tasks of the list's operation, or such a share of all that it has: those that are left, where
   * that is less.
   *
   * @returns how many, and how many are left.
   */
  trigger(
    wanted: { readonly count: number } | { readonly percent: number },
    options?: TriggerOptions,
  ): Promise<{ readonly triggered: number; readonly left: number }>;
  claim(options: ClaimOptions): Promise<Claim<Payload> | NothingToClaim>;
}

export interface ListClient {
  /** @throws ApiRefused (409: another one has its id), ApiUnavailable */
  createList<Payload extends object = Record<string, unknown>>(fields?: ListToCreate): Promise<DeferredList<Payload>>;
  /** One that was created before, elsewhere say; nobody is asked whether it is there. */
  list<Payload extends object = Record<string, unknown>>(id: string): DeferredList<Payload>;
}

/** A client whose requests `ask` carries. @param newId names what its caller did not */
export const listsBy = (ask: Ask, newId: () => string): ListClient => ({
  // Named here, so that a lost answer can be asked for again.
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
    jobs: (from = 0) => jobsFrom(ask, id, from),
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
    claim: ({ claimId = newId(), ...wanted }) => claimOf(ask, path, { ...wanted, claimId }),
  };
};

/** @throws RangeError */
const checkToken = (token: string): void => {
  if (!isTokenOfCalls(token)) throw new RangeError(`a token is ${TOKEN_OF_CALLS_RULE}`);
};

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
  )) as (Pick<Claim<Payload>, 'jobs' | 'expiresAt'> & { readonly claimId: string }) | Pick<NothingToClaim, 'status'>;
  if (!('claimId' in answer)) return { kind: 'none', status: answer.status };
  const path = `${list}/claims/${encodeURIComponent(answer.claimId)}`;
  return {
    kind: 'claimed',
    id: answer.claimId,
    jobs: answer.jobs,
    expiresAt: answer.expiresAt,
    renew: async (leaseSeconds, stop) =>
      (await ask(path, { leaseSeconds }, { method: 'PUT', ...(stop ? { signal: stop } : {}) })) as {
        expiresAt: string;
      },
    complete: (jobs) => completeCalls(ask, path, jobs),
    release: async () => (await ask(`${path}/release`)) as { released: number },
  };
};
