/** Looks up batches by their ids. */
import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import { type BatchId, isBatchId } from '../../domain/ids.ts';
import type { ApiDeps } from './deps.ts';
import { HttpProblem } from './problem.ts';

type Deps = Pick<ApiDeps, 'batches'>;

/** The batch that a request names. @throws HttpProblem 404 */
export const batchNamed = async ({ batches }: Deps, id: string): Promise<Batch> => {
  const batch = isBatchId(id) ? await batches.get(id) : undefined;
  if (batch) return batch;
  throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; URL-encode the id`);
};

/** The batches that are still stored, in the order of their ids. */
export const storedBatches = async ({ batches }: Deps, ids: readonly BatchId[]): Promise<readonly Batch[]> =>
  (await Promise.all(ids.map((id) => batches.get(id)))).flatMap((batch) => batch ?? []);

/** Those of them that have not ended. An index may still list a batch that has ended a moment ago. */
export const unfinishedBatches = async (deps: Deps, ids: readonly BatchId[]): Promise<readonly Batch[]> =>
  (await storedBatches(deps, ids)).filter(({ status }) => !isFinished(status));
