/** After a deployment that failed or was interrupted: removes what it made, and says what stands. */
import { setTimeout } from 'node:timers/promises';
import { stackNames } from '../../lib/stage.ts';
import { reasonOf } from '../../src/util/problems.ts';
import type { Account } from '../account/stacks.ts';
import { causesIn } from './causes.ts';
import { untilInterrupted } from './cdk.ts';
import { type AfterFailure, type Attempt, afterFailure } from './plan.ts';
import { removeStacks } from './remove.ts';
import { destroyOf, type StageStack, stacksOf } from './stacks.ts';
import { headingOf } from './words.ts';

/** What happened. */
export interface Failed extends Attempt {
  readonly interrupted: boolean;
  /** When it began, by this machine's clock. */
  readonly from: number;
}

/** How often to look whether CloudFormation is done. */
const LOOK_EVERY = 3_000;

/** Never fails. @returns what went wrong, what was removed, and what stands. */
export const cleanUp = async (account: Account, failed: Failed): Promise<string> => {
  const { interrupted, stage } = failed;
  const what = `The deployment ${interrupted ? 'was interrupted' : 'failed'}`;
  try {
    const done = await untilInterrupted((signal) => tidy(account, failed, signal));
    if (done === undefined) return `\nThe clean-up was interrupted. ${await whatStands(account, stage)}`;
    const { causes, says } = done;
    return [headingOf(what, { causes, interrupted }), ...causes, ...says].join('\n');
  } catch (cause) {
    return `\n${what}; what stands could not be looked at or removed: ${reasonOf(cause)}\nRepair that; then ${destroyOf(stage)}`;
  }
};

interface Done {
  readonly causes: readonly string[];
  readonly says: readonly string[];
}

/** @returns nothing when it was interrupted. */
const tidy = async (account: Account, failed: Failed, signal: AbortSignal): Promise<Done | undefined> => {
  const { stage, from } = failed;
  const { stacks, plan } = await atRest(account, failed, signal);
  if (signal.aborted || plan.do === 'wait') return undefined;
  const found = await Promise.all(stacks.map(({ id }) => causesIn(account, id, from)));
  const causes = found.flatMap((some, index) => some.map((cause) => `  ${stacks[index]?.name}: ${cause}`));
  const { remove, orphans, says } = plan;
  const tables = orphans ? { tablesOf: stackNames(stage).data } : {};
  const removed = await removeStacks(account, { stage, remove, ...tables }, signal);
  if (signal.aborted) return undefined;
  const nothing = stacks.length === 0 ? ['Nothing was made.'] : [];
  return { causes, says: [...removed.says, ...says, ...removed.problems, ...nothing] };
};

/** What `cdk` began goes on in CloudFormation when `cdk` ends, and can only be removed after it. */
const atRest = async (
  account: Account,
  failed: Failed,
  signal: AbortSignal,
): Promise<{ readonly stacks: readonly StageStack[]; readonly plan: AfterFailure }> => {
  let told = '';
  for (;;) {
    const stacks = await stacksOf(account, failed.stage);
    const plan = afterFailure(failed, stacks);
    if (plan.do === 'remove' || signal.aborted) return { stacks, plan };
    const waiting = plan.until.join(' and ');
    if (waiting !== told)
      console.log(
        `Waiting for CloudFormation to come to rest with what this run made, to remove it then: ${waiting}. Ctrl-C gives up.`,
      );
    told = waiting;
    // What ends the waiting is looked at above.
    await setTimeout(LOOK_EVERY, undefined, { signal }).catch(() => {});
  }
};

const whatStands = async (account: Account, stage: string): Promise<string> => {
  const stacks = await stacksOf(account, stage);
  if (stacks.length === 0) return `Nothing of the stage ${stage} stands.`;
  const list = stacks.map(({ name, status }) => `${name} (${status})`).join(' and ');
  return `What stands: ${list}. CloudFormation goes on with what is IN_PROGRESS; after that ${destroyOf(stage)} removes it`;
};
