/** Answers 404 for an unknown Target, so that a mistyped Target does not look like an empty one. */
import type { Target } from '../../domain/ids.ts';
import type { ApiDeps } from './deps.ts';
import { HttpProblem } from './problem.ts';

export const noSuchTarget = (target: Target): HttpProblem =>
  new HttpProblem(404, `there is no Target ${JSON.stringify(target)}: no task was ever registered for it`);

/**
 * Refuses an unknown Target. Routes call this function if the first page of a Target's list is empty. Every Target gets
 * its lock row before its first task becomes visible. The row outlives the Target's tasks and batches, even if the
 * operation is no longer configured.
 *
 * @throws HttpProblem
 */
export const expectTarget = async ({ locks }: ApiDeps, target: Target): Promise<void> => {
  const [lock] = await locks.readAll([target]);
  if (!lock) throw noSuchTarget(target);
};
