/** Plans what to do with a stage's stacks before and after a deployment, from their current state. Pure. */
import { keepsData, STAGE_TAG, stackNames } from '../../lib/stage.ts';
import { destroyOf, isDoneBy, isMadeBy, type Made, stateOf, waitsForUs, wayOut } from './stacks.ts';

/** Properties of a stack that a plan needs. */
export interface Seen {
  readonly name: string;
  readonly status: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly changeSets: readonly string[];
  readonly outputs: Readonly<Record<string, string>>;
}

export type Plan =
  | { readonly do: 'stop'; readonly problems: readonly string[] }
  | { readonly do: 'go'; readonly creates: readonly string[]; readonly changes: readonly string[] };

export interface Wanted {
  readonly stage: string;
  /** Names of all stacks of the stage, whether they exist or not. */
  readonly names: readonly string[];
  /** Whether the deployment says how callers reach the API. Otherwise it gives the stage a function URL. */
  readonly choosesApi: boolean;
}

export const planDeploy = ({ stage, names, choosesApi }: Wanted, seen: readonly Seen[]): Plan => {
  const problems = seen.flatMap((stack) => {
    const state = stateOf(stack.status);
    if (isForeign(stack, stage)) return [takenBy(stack, stage)];
    if (state !== 'whole' && state !== 'broken') return [wayOut(stack.name, stack.status, stage)];
    return choosesApi ? [] : lostAddress(stack);
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
      /** A data stack that stays, because its tables are retained anyway. */
      readonly keep?: { readonly name: string; readonly status: string };
      /** Whether the tables of a data stack whose creation failed must be removed too. */
      readonly orphans: boolean;
    };

/**
 * Removes stacks in any state, unless an operation is in progress. Keeps the data stack of a stage that keeps its data.
 *
 * @param yes whether to also remove stacks that may not belong to Groupage.
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

/** A stack that waits for its first change set may not have its tags yet. */
const hasNoTagsYet = ({ status, tags }: Seen): boolean =>
  stateOf(status) === 'review' && Object.keys(tags).length === 0;

/** Whether it is unknown which deployment the stack belongs to. */
const isUnowned = (stack: Seen): boolean => hasNoTagsYet(stack) && !waitsForUs(stack);

const maybeOf = ({ name, changeSets }: Seen): string =>
  `${name} has no resources yet, and it is unknown which deployment created it (${changeSets.length > 0 ? `it waits for the change set ${changeSets.join(', ')}` : 'it has no tags and no change set'}). Add --yes to remove it`;

/** An update without an API option would replace the address that callers use. */
const lostAddress = ({ name, outputs: { ApiUrl = '' } }: Seen): string[] =>
  ApiUrl.includes('.execute-api.')
    ? [
        `callers reach the API of ${name} through API Gateway, at ${ApiUrl}. This deployment would replace that address with a function URL. To keep it, add --api with the value of the last deployment (http-api, or ids of VPC endpoints). To replace it, add --api function-url`,
      ]
    : [];

/** Prefix of the descriptions of Groupage's stacks, including stacks of older releases without tags. */
const OURS = 'Groupage:';

const takenBy = ({ name, tags, description }: Seen, stage: string): string => {
  const found = tags[STAGE_TAG] === undefined ? `has no tag ${STAGE_TAG}` : `is tagged ${STAGE_TAG}=${tags[STAGE_TAG]}`;
  const older = description.startsWith(OURS)
    ? `. If an older release of Groupage created it, \`npx cdk deploy --all -c stage=${stage}\` adds it to this stage`
    : '';
  return `a stack ${name} already exists and does not belong to this stage (it ${found}). Choose another stage, or remove that stack if it is not needed${older}`;
};

export interface Attempt {
  readonly stage: string;
  /** Stacks that this run had to create: they did not exist, or were not complete, at its start. */
  readonly creates: readonly string[];
  /** The name of this run's change sets. */
  readonly changeSet: string;
}

export interface Left extends Made {
  readonly name: string;
}

export type AfterFailure =
  /** CloudFormation is still working on stacks that this run created. */
  | { readonly do: 'wait'; readonly until: readonly string[] }
  | {
      readonly do: 'remove';
      /** Stacks to remove, in this order. */
      readonly remove: readonly string[];
      /** Whether the tables of an incomplete data stack would be retained, and so must be removed too. */
      readonly orphans: boolean;
      readonly says: readonly string[];
    };

/**
 * Plans the clean-up after a failed or interrupted deployment.
 *
 * Stacks that this run created are removed, so that no incomplete stage remains. CloudFormation rolls back stacks that
 * existed before, and stacks that another deployment created meanwhile are not touched. A complete data stack of a stage
 * that keeps its data stays even if this run created it: its tables are protected and retained, so removing the stack
 * would leave tables that no stack owns.
 *
 * @param left stacks that exist now.
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
  // A flow stack that stays uses the data stack, whichever deployment created it.
  const isUsed = left.some(({ name }) => name === names.flow && !remove.includes(name));
  const orphans = keepsData(stage) && remove.includes(data);
  const says = left.filter((stack) => !isOwn(stack)).map((stack) => whatIs(stack, attempt));
  for (const { name } of own.filter((stack) => !remove.includes(stack.name))) {
    if (name !== data || isUsed) says.push(`${name} is complete and stays`);
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
  `${data} is complete and stays. Its tables are empty and cost nothing; the next \`npm run deploy -- --stage ${stage}\` uses them. Tables of this stage are protected from deletion, so a deployment does not remove them. docs/how-to/deploy.md explains how to remove them`;

const whatIs = (stack: Left, { stage, creates, changeSet }: Attempt): string => {
  const { name, status } = stack;
  if (creates.includes(name))
    return `${name} (${status}) was created by another deployment and stays. If no deployment is under way, remove it with ${destroyOf(stage)}`;
  const isOwn = isDoneBy(stack, changeSet);
  if (isOwn && stateOf(status) === 'busy')
    return `This command has stopped, but CloudFormation is still updating ${name} (${status}). Wait for the update to finish, then run the command again`;
  if (isOwn && status === 'UPDATE_ROLLBACK_COMPLETE')
    return `CloudFormation has rolled back the update of ${name}. The stack is again in its previous state`;
  return stateOf(status) === 'whole' ? `${name} is complete and stays` : wayOut(name, status, stage);
};
