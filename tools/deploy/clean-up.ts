/** After a failed or interrupted deployment: removes the stacks it created, and reports which stacks exist. */
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

/** A failed or interrupted deployment. */
export interface Failed extends Attempt {
  readonly interrupted: boolean;
  /** Start time, by this machine's clock. */
  readonly from: number;
}

/** Milliseconds between two checks whether CloudFormation has finished. */
const LOOK_EVERY = 3_000;

/** Never throws. @returns a text with the causes, the removed stacks and the remaining stacks. */
export const cleanUp = async (account: Account, failed: Failed): Promise<string> => {
  const { interrupted, stage } = failed;
  const what = `The deployment ${interrupted ? 'was interrupted' : 'failed'}`;
  try {
    const done = await untilInterrupted((signal) => tidy(account, failed, signal));
    if (done === undefined) return `\nThe clean-up was interrupted. ${await whatStands(account, stage)}`;
    const { causes, says } = done;
    return [headingOf(what, { causes, interrupted }), ...causes, ...says].join('\n');
  } catch (cause) {
    return `\n${what}. The remaining stacks could not be read or removed: ${reasonOf(cause)}\nCorrect the cause, then run ${destroyOf(stage)}`;
  }
};

interface Done {
  readonly causes: readonly string[];
  readonly says: readonly string[];
}

/** @returns undefined if the clean-up was interrupted. */
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
  const nothing = stacks.length === 0 ? ['Nothing was created.'] : [];
  return { causes, says: [...removed.says, ...says, ...removed.problems, ...nothing] };
};

/** CloudFormation continues after `cdk` has ended. Wait until it has finished, because a stack can only be removed then. */
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
        `CloudFormation is still working on stacks that this deployment created. Waiting until these stacks can be removed: ${waiting}. Press Ctrl-C to stop waiting.`,
      );
    told = waiting;
    // An abort ends the wait early; the loop checks for it above.
    await setTimeout(LOOK_EVERY, undefined, { signal }).catch(() => {});
  }
};

const whatStands = async (account: Account, stage: string): Promise<string> => {
  const stacks = await stacksOf(account, stage);
  if (stacks.length === 0) return `No stack of the stage ${stage} exists.`;
  const list = stacks.map(({ name, status }) => `${name} (${status})`).join(' and ');
  return `These stacks remain: ${list}. If a status ends with IN_PROGRESS, wait for CloudFormation to finish. Then remove the stacks with ${destroyOf(stage)}`;
};
