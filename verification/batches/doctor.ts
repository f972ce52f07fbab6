/** `groupage doctor --deep --repair`, as the command walks over the API's pages: every Target, and every batch of it. */

import type { OperationName, Target } from '../../src/domain/ids.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { type Looked, lookAtBatches, lookAtTargets, repairAll } from '../../src/steps/repair/repair.ts';

const PAGE = 25;

/** @throws AggregateError of what could not be looked at or repaired, after everything else. */
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

/** @returns what failed. */
const treat = async (deps: Deps, { findings, skipped }: Looked): Promise<readonly unknown[]> => {
  const treated = await repairAll(deps, findings);
  return [...skipped, ...treated].flatMap((each) => ('cause' in each ? [each.cause] : []));
};

/** @param visit sees to a page, and answers the next one's cursor. */
const eachPage = async (visit: (cursor: string | undefined) => Promise<string | undefined>): Promise<void> => {
  let cursor: string | undefined;
  do cursor = await visit(cursor);
  while (cursor !== undefined);
};
