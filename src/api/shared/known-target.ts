/** Whether there is such a Target: one that is mistyped must not read as one where all is well. */
import type { Target } from '../../domain/ids.ts';
import type { ApiDeps } from './deps.ts';
import { HttpProblem } from './problem.ts';

export const noSuchTarget = (target: Target): HttpProblem =>
  new HttpProblem(404, `there is no Target ${JSON.stringify(target)}: no task of it was ever registered`);

/**
 * To be asked where a Target's list is empty from its beginning. Every Target has a lock row before its first task can be
 * found, whether its operation is still configured or not, and for longer than what is kept of its tasks and batches.
 *
 * @throws HttpProblem
 */
export const expectTarget = async ({ locks }: ApiDeps, target: Target): Promise<void> => {
  const [lock] = await locks.readAll([target]);
  if (!lock) throw noSuchTarget(target);
};
