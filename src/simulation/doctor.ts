/** `groupage doctor --deep --repair`, as the command walks over the API's pages: every Target, and every batch of it. */
import type { Deps } from '../batching/deps.ts';
import type { OperationName, Target } from '../batching/ids.ts';
import { lookAtBatches, lookAtTarget, repair } from '../batching/repair.ts';
import type { Page } from '../ports.ts';

const PAGE = 25;

export const doctor = async (deps: Deps): Promise<void> => {
  for (const operation of Object.keys(deps.config.operations) as OperationName[])
    await eachPage(
      (cursor) => deps.locks.targets(operation, PAGE, cursor),
      (target) => treat(deps, target),
    );
};

const treat = async (deps: Deps, target: Target): Promise<void> => {
  const finding = await lookAtTarget(deps, target, deps.machine.now());
  if (finding) await repair(deps, finding);
  await eachPage(
    (cursor) => lookAtBatches(deps, target, PAGE, cursor),
    (overdue) => repair(deps, overdue),
  );
};

const eachPage = async <T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  let cursor: string | undefined;
  do {
    const page = await load(cursor);
    for (const item of page.items) await work(item);
    cursor = page.cursor;
  } while (cursor !== undefined);
};
