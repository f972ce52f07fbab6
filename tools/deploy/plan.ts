/** What to do with a stage's stacks before and after a deployment, given what was found of them. Pure. */
import { keepsData, STAGE_TAG, stackNames } from '../../lib/stage.ts';
import { destroyOf, isDoneBy, isMadeBy, type Made, stateOf, waitsForUs, wayOut } from './stacks.ts';

/** What a plan has to know of a stack. */
export interface Seen {
  readonly name: string;
  readonly status: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly changeSets: readonly string[];
}

export type Plan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | { readonly do: 'go'; readonly creates: readonly string[]; readonly changes: readonly string[] };

/** @param names the stage's, whether there are such stacks or not. */
export const planDeploy = (stage: string, names: readonly string[], seen: readonly Seen[]): Plan => {
  const problems = seen.flatMap((stack) => {
    const state = stateOf(stack.status);
    if (isForeign(stack, stage)) return [takenBy(stack, stage)];
    return state === 'whole' || state === 'broken' ? [] : [wayOut(stack.name, stack.status, stage)];
  });
  if (problems.length > 0) return { do: 'stop', problems };
  const changes = seen.filter(({ status }) => stateOf(status) === 'whole').map(({ name }) => name);
  return { do: 'go', creates: names.filter((name) => !changes.includes(name)), changes };
};

export type DestroyPlan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | {
      readonly do: 'go';
      readonly remove: readonly string[];
      /** A data stack that stays, since its tables would outlive it anyway. */
      readonly keep?: { readonly name: string; readonly status: string };
      /** Whether tables of a data stack that never was whole have to be removed too. */
      readonly orphans: boolean;
    };

/**
 * Removing takes stacks in any state that rests, but the data of the stage that keeps it.
 *
 * @param yes whether to remove also what may be somebody else's.
 */
export const planDestroy = (stage: string, seen: readonly Seen[], yes: boolean): DestroyPlan => {
  const problems = seen.flatMap((stack) => {
    if (isForeign(stack, stage)) return [takenBy(stack, stage)];
    if (isUnowned(stack) && !yes) return [maybeOf(stack)];
    return stateOf(stack.status) === 'busy' ? [wayOut(stack.name, stack.status, stage)] : [];
  });
  if (problems.length > 0) return { do: 'stop', problems };
  const { data } = stackNames(stage);
  const found = seen.find(({ name }) => name === data);
  const neverWhole =
    found !== undefined && (found.status === 'CREATE_FAILED' || ['broken', 'review'].includes(stateOf(found.status)));
  const keeps = keepsData(stage) && found !== undefined && !neverWhole;
  return {
    do: 'go',
    remove: seen.map(({ name }) => name).filter((name) => !(keeps && name === data)),
    ...(keeps ? { keep: { name: data, status: found.status } } : {}),
    orphans: keepsData(stage) && neverWhole,
  };
};

const isForeign = (stack: Seen, stage: string): boolean => stack.tags[STAGE_TAG] !== stage && !hasNoTagsYet(stack);

/** A stack that only waits for its first change set may not show its tags yet. */
const hasNoTagsYet = ({ status, tags }: Seen): boolean =>
  stateOf(status) === 'review' && Object.keys(tags).length === 0;

/** Nothing says whose it is. */
const isUnowned = (stack: Seen): boolean => hasNoTagsYet(stack) && !waitsForUs(stack);

const maybeOf = ({ name, changeSets }: Seen): string =>
  `${name} holds nothing yet, and nothing says whose it is (${changeSets.length > 0 ? `it waits for the change set ${changeSets.join(', ')}` : 'it has no tags and no change set'}): add --yes if it may go`;

/** What our stacks' descriptions begin with, also of those that were made before they had tags. */
const OURS = 'Groupage:';

const takenBy = ({ name, tags, description }: Seen, stage: string): string => {
  const found = tags[STAGE_TAG] === undefined ? `has no tag ${STAGE_TAG}` : `is tagged ${STAGE_TAG}=${tags[STAGE_TAG]}`;
  const older = description.startsWith(OURS)
    ? `. If an older Groupage made it, \`npx cdk deploy --all -c stage=${stage}\` makes it this stage's`
    : '';
  return `there is a stack ${name} already that is not this stage's (it ${found}): choose another stage, or remove that stack if nobody needs it${older}`;
};

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

/**
 * What a failed or interrupted deployment leaves, and what becomes of it.
 *
 * What this run made goes, so that nothing stands half-made; what was there before was taken back by CloudFormation, and
 * what another deployment made in the meantime is that one's. One thing that this run made may stay: a whole data stack
 * of the stage that keeps its data. Its tables are protected from deletion and outlive their stack, so removing it would
 * leave tables that no stack owns.
 *
 * @param left the stacks that exist now.
 */
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
  `${data} is whole and stays: its tables are empty and cost nothing so, and the next \`npm run deploy -- --stage ${stage}\` goes on with it. Tables of this stage are protected from deletion, so a deployment does not remove them: docs/how-to/deploy.md says how to`;

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
