/**
 * Deferred lists from TypeScript: jobs that wait until they are asked for, and then are each handed out once.
 *
 * ```ts
 * const { createList } = createListClient({ api: 'https://….lambda-url.eu-central-1.on.aws/v1' });
 * const list = await createList({ operation: 'distribute-parcels' });
 * await list.add(parcels);
 * await list.trigger({ percent: 10 }); // a tenth of them become tasks
 * // or, for workers that pull:
 * await claimLoop(list, async ({ payload }) => deliver(payload), { count: 100, leaseSeconds: 60 });
 * ```
 */
import { monotonicFactory } from 'ulid';
import { type ApiOptions, askingApi } from './ask-api.ts';
import { type ListClient, listsBy } from './list-client.ts';

export { NotAllAdded } from './ask.ts';
export { type ClaimLoopOptions, claimLoop, type HandledJob, type LoopEnd } from './claim-loop.ts';
export { JobFailed } from './claim-work.ts';
export type { AddedJobs, DeletedList, DoneJob, ListedJob, ListView } from './list-calls.ts';
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
 * Each call is tried seven times where no answer comes, or 429 or 5xx: it does nothing twice. @throws TypeError where
 * `api` is no address for it.
 */
export const createListClient = (options: ApiOptions): ListClient => listsBy(askingApi(options), newId);
