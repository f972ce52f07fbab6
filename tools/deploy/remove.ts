/** Removes stacks of a stage, and makes sure that they are gone. */

import { EXAMPLE_CONFIG } from '../../src/config/load.ts';
import { type Account, findStack } from '../account/stacks.ts';
import { causesIn } from './causes-in.ts';
import { cdk } from './cdk.ts';
import { removeEmptyTables, tablesOf } from './orphans.ts';

export interface ToRemove {
  readonly stage: string;
  readonly remove: readonly string[];
  /** Their tables too, which would outlive them. */
  readonly tablesOf?: string;
}

export interface Removed {
  readonly says: readonly string[];
  /** What could not be removed, and why. */
  readonly problems: readonly string[];
}

/** @param signal ends it: what CloudFormation was told to remove goes on. */
export const removeStacks = async (
  account: Account,
  { stage, remove, tablesOf: owner }: ToRemove,
  signal: AbortSignal,
): Promise<Removed> => {
  const from = Date.now();
  const tables = owner === undefined ? [] : await tablesOf(account, owner);
  // Which configuration does not matter: the stacks' names come from the stage alone, and the own one may be broken.
  const settings = { stage, config: EXAMPLE_CONFIG, region: account.region, signal };
  if (remove.length > 0) await cdk(settings, 'destroy', ...remove, '--exclusively', '--force');
  const [says, problems]: [string[], string[]] = [[], []];
  for (const name of remove) {
    const left = await findStack(account, name);
    if (left === undefined) says.push(`${name} is removed`);
    else
      problems.push(
        [`${name} is still there (${left.status})`, ...(await causesIn(account, left.id, from))].join('\n  '),
      );
  }
  if (!signal.aborted) says.push(...(await removeEmptyTables(account, tables)));
  else if (tables.length > 0) problems.push(`these tables are left, and no stack owns them: ${tables.join(', ')}`);
  return { says, problems };
};
