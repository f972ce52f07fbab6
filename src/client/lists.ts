/**
 * The TypeScript client for deferred lists. A list stores jobs until a trigger or a worker takes them, and hands out
 * each job once.
 *
 * ```ts
 * const { createList } = createListClient({ api: 'https://….lambda-url.eu-central-1.on.aws/v1' });
 * const list = await createList({ operation: 'distribute-parcels' });
 * await list.add(parcels);
 * await list.trigger({ percent: 10 }); // a tenth of them become tasks
 * // or, for workers that pull:
 * await claimLoop(list, async ({ payload }) => deliver(payload), { count: 100 });
 * ```
 */
import { monotonicFactory } from 'ulid';
import { type ApiOptions, askingApi } from './ask-api.ts';
import { type ListClient, listsBy } from './list-client.ts';

export { NotAllAdded } from './ask.ts';
export { type ClaimLoopOptions, claimLoop, type HandledJob, type LoopEnd, type LostClaim } from './claim-loop.ts';
export { JobFailed } from './claim-work.ts';
export { ClaimLost } from './kept-lease.ts';
export type {
  AddedJobs,
  AttemptedJob,
  DeletedList,
  DoneJob,
  ListedClaim,
  ListedJob,
  ListView,
  ReleasedJobs,
} from './list-calls.ts';
export type {
  AddJobsOptions,
  Claim,
  ClaimedJob,
  ClaimOptions,
  DeferredList,
  ListClient,
  ListToCreate,
  NothingToClaim,
  TriggerOptions,
} from './list-client.ts';
export { UnsendableJob } from './list-client.ts';

const newId = monotonicFactory();

/**
 * Creates a client for deferred lists. It makes up to seven attempts for each call if the API does not answer, or
 * answers 429 or 5xx. Repeated calls have no further effect.
 *
 * @throws TypeError if `api` is not a valid address of the API
 */
export const createListClient = (options: ApiOptions): ListClient => listsBy(askingApi(options), newId);
