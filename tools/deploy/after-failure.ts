/**
 * What a failed or interrupted deployment leaves, and what becomes of it. Pure.
 *
 * What this run made goes, so that nothing stands half-made; what was there before was taken back by CloudFormation, and
 * what another deployment made in the meantime is that one's. One thing that this run made may stay: a whole data stack
 * of the stage that keeps its data. Its tables are protected from deletion and outlive their stack, so removing it would
 * leave tables that no stack owns.
 */
import { keepsData, stackNames } from '../../lib/stage.ts';
import { isDoneBy, isMadeBy, type Made } from './change-set.ts';
import { destroyOf, stateOf, wayOut } from './stack-state.ts';

export interface Attempt {
  readonly stage: string;
  /** Stacks that this run was to make: they were not there, or not whole, when it looked. */
  readonly creates: readonly string[];
  /** The name of this run's change sets. */
  readonly changeSet: string;
}

export interface Left extends Made {
  readonly name: string;
}

export type AfterFailure =
  /** CloudFormation is still at stacks that this run made. */
  | { readonly do: 'wait'; readonly until: readonly string[] }
  | {
      readonly do: 'remove';
      /** In this order. */
      readonly remove: readonly string[];
      /** Whether the tables of a data stack that never was whole would outlive it, and have to be removed too. */
      readonly orphans: boolean;
      readonly says: readonly string[];
    };

/** @param left the stacks that exist now. */
export const afterFailure = (attempt: Attempt, left: readonly Left[]): AfterFailure => {
  const { stage, creates, changeSet } = attempt;
  const isOwn = (stack: Left): boolean => creates.includes(stack.name) && isMadeBy(stack, changeSet);
  const own = left.filter(isOwn);
  const until = own.filter(({ status }) => stateOf(status) === 'busy').map(({ name, status }) => `${name} (${status})`);
  if (until.length > 0) return { do: 'wait', until };
  const names = stackNames(stage);
  const { data } = names;
  const remove = own.filter(({ status }) => stateOf(status) !== 'whole').map(({ name }) => name);
  // What uses the data stack, whoever made it.
  const isUsed = left.some(({ name }) => name === names.flow && !remove.includes(name));
  const orphans = keepsData(stage) && remove.includes(data);
  const says = left.filter((stack) => !isOwn(stack)).map((stack) => whatIs(stack, attempt));
  for (const { name } of own.filter((stack) => !remove.includes(stack.name))) {
    if (name !== data || isUsed) says.push(`${name} is whole, and stays`);
    else if (keepsData(stage)) says.push(stands(data, stage));
    else remove.push(data);
  }
  return {
    do: 'remove',
    remove: Object.values(names)
      .toReversed()
      .filter((name) => remove.includes(name)),
    orphans,
    says,
  };
};

const stands = (data: string, stage: string): string =>
  `${data} is whole and stays: its tables are empty and cost nothing so, and the next \`npm run deploy -- --stage ${stage}\` goes on with it. Tables of this stage are protected from deletion, so a deployment does not remove them: docs/deploying.md says how to`;

const whatIs = (stack: Left, { stage, creates, changeSet }: Attempt): string => {
  const { name, status } = stack;
  if (creates.includes(name))
    return `${name} (${status}) was not made by this run but by another deployment, and stays: if none is under way, ${destroyOf(stage)} removes it`;
  const isOwn = isDoneBy(stack, changeSet);
  if (isOwn && stateOf(status) === 'busy')
    return `CloudFormation goes on with the update of ${name} (${status}), also without this command: wait until that is done, and run the command again`;
  if (isOwn && status === 'UPDATE_ROLLBACK_COMPLETE')
    return `CloudFormation has taken the update of ${name} back: it is as it was before`;
  return stateOf(status) === 'whole' ? `${name} is whole, and stays` : wayOut(name, status, stage);
};
