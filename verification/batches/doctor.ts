/**
 * `groupage doctor --deep --repair`: checks and repairs every Target and every batch of the Target, page by page as the
 * command does.
 */

import type { OperationName, Target } from '../../src/domain/ids.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { type Looked, lookAtBatches, lookAtTargets, repairAll } from '../../src/steps/repair/repair.ts';

const PAGE = 25;

/**
 * @throws AggregateError with the causes of all failed checks and repairs, after all other checks and repairs are done
 */
export const doctor = async (deps: Deps): Promise<void> => {
  const failures: unknown[] = [];
  for (const operation of Object.keys(deps.config.operations) as OperationName[])
    await eachPage(async (cursor) => {
      const page = await deps.locks.targets(operation, PAGE, cursor);
      failures.push(...(await treat(deps, await lookAtTargets(deps, page.items))));
      for (const target of page.items) failures.push(...(await treatBatches(deps, target)));
      return page.cursor;
    });
  if (failures.length > 0) throw new AggregateError(failures, `doctor: ${failures.map(String).join('; ')}`);
};

const treatBatches = async (deps: Deps, target: Target): Promise<readonly unknown[]> => {
  const failures: unknown[] = [];
  await eachPage(async (cursor) => {
    const page = await lookAtBatches(deps, target, PAGE, cursor);
    failures.push(...(await treat(deps, page)));
    return page.cursor;
  });
  return failures;
};

/** @returns the causes of failed checks and repairs */
const treat = async (deps: Deps, { findings, skipped }: Looked): Promise<readonly unknown[]> => {
  const treated = await repairAll(deps, findings);
  return [...skipped, ...treated].flatMap((each) => ('cause' in each ? [each.cause] : []));
};

/** @param visit handles a page and returns the cursor of the next one */
const eachPage = async (visit: (cursor: string | undefined) => Promise<string | undefined>): Promise<void> => {
  let cursor: string | undefined;
  do cursor = await visit(cursor);
  while (cursor !== undefined);
};
