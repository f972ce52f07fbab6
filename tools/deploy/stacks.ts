/**
 * The stacks of a stage in the account: their states, and which deployment created them.
 *
 * ```
 * absent ──► (creating) ──► whole ──► (updating) ──► whole        whole: complete; can be updated or removed
 *                │                         └─► stuck              stuck: needs a manual repair or a removal
 *                └─► broken: creation failed; `cdk deploy` and `destroy` remove it first
 * ```
 *
 * Each deployment gives its change sets a unique name, and so recognizes the stacks it created. The absence of a stack at
 * the start proves nothing, because two deployments may start at the same time.
 */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { keepsData, stackNames } from '../../lib/stage.ts';
import { inWords } from '../account/failures.ts';
import { type Account, changeSetsOf, type FoundStack, findStack } from '../account/stacks.ts';

/** The account id. @throws CommandFailure if the credentials are missing or invalid. */
export const whoAmI = ({ region }: Account): Promise<string> =>
  inWords('read the account of these credentials', region, async () => {
    const { Account = '' } = await new STSClient({ region }).send(new GetCallerIdentityCommand({}));
    return Account;
  });

/** A stack of a stage, with its change sets, which identify the deployment that created it. */
export interface StageStack extends FoundStack {
  /** Name of the change set that was executed last, or names of the change sets that wait. */
  readonly changeSets: readonly string[];
}

/** Existing stacks of a stage, in the order of their creation. */
export const stacksOf = async (account: Account, stage: string): Promise<StageStack[]> => {
  const names = Object.values(stackNames(stage));
  const found = await Promise.all(names.map((name) => findStack(account, name)));
  return Promise.all(
    found
      .filter((stack) => stack !== undefined)
      .map(async (stack) => ({ ...stack, changeSets: await namesOf(account, stack) })),
  );
};

/**
 * Several change sets may wait for a stack without resources. For other stacks, the change set that was executed last
 * counts (`arn:…:changeSet/NAME/ID`).
 */
const namesOf = async (account: Account, { name, status, changeSetId }: FoundStack): Promise<readonly string[]> => {
  const carriedOut = changeSetId?.split('/').at(-2);
  return carriedOut === undefined || stateOf(status) === 'review' ? changeSetsOf(account, name) : [carriedOut];
};

/** `busy`: an operation is in progress. `review`: the stack has no resources, only a change set that was not executed. */
export type StackState = 'whole' | 'broken' | 'busy' | 'review' | 'stuck';

export const stateOf = (status: string): StackState => {
  if (status === 'REVIEW_IN_PROGRESS') return 'review';
  if (status.endsWith('_IN_PROGRESS')) return 'busy';
  if (status === 'ROLLBACK_COMPLETE' || status === 'ROLLBACK_FAILED') return 'broken';
  return status.endsWith('_COMPLETE') ? 'whole' : 'stuck';
};

/** The command that removes a stage. */
export const destroyOf = (stage: string): string =>
  `\`npm run destroy -- --stage ${stage}${keepsData(stage) ? ' --yes' : ''}\``;

/** Explains why a stack cannot be deployed to, with a remedy. */
export const wayOut = (name: string, status: string, stage: string): string => {
  const destroy = destroyOf(stage);
  switch (status) {
    case 'CREATE_IN_PROGRESS':
    case 'IMPORT_IN_PROGRESS':
      return `${name} is being created by another deployment. Wait for that deployment to finish, then run the command again`;
    case 'UPDATE_IN_PROGRESS':
    case 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS':
      return `${name} is being updated by another deployment. Wait for that deployment to finish, then run the command again`;
    case 'DELETE_IN_PROGRESS':
      return `${name} is being removed. Wait until the stack no longer exists, then run the command again`;
    case 'REVIEW_IN_PROGRESS':
      return `${name} has no resources yet, only a change set that was not executed. Execute the change set, or remove the stack with ${destroy}`;
    case 'CREATE_FAILED':
      return `the creation of ${name} failed without a rollback. Remove the stack with ${destroy}`;
    case 'DELETE_FAILED':
      // The removal of the stage keeps the data stack, so `npm run destroy` would change nothing.
      if (keepsData(stage) && name === stackNames(stage).data)
        return `${name} could not be removed completely. Its events in CloudFormation show the reason, and docs/how-to/deploy.md ("Removing") explains how to remove it by hand`;
      return `${name} could not be removed completely. Its events in CloudFormation show the reason. Correct the cause, then run ${destroy}`;
    case 'UPDATE_FAILED':
      return `the update of ${name} failed without a rollback. Roll back with \`npx cdk rollback ${name} -c stage=${stage}\``;
    case 'UPDATE_ROLLBACK_FAILED':
      return `the update of ${name} failed, and so did its rollback. Its events in CloudFormation show the reason. Correct the cause, then run \`aws cloudformation continue-update-rollback --stack-name ${name}\``;
    default:
      return status.endsWith('_IN_PROGRESS')
        ? `${name} is being rolled back (${status}). Wait for the rollback to finish, then run the command again`
        : `${name} is in the state ${status}. Repair it in CloudFormation, or remove it with ${destroy}`;
  }
};

const PREFIX = 'groupage-';

/** Name of a deployment's change sets. @param id unique id of this run. */
export const changeSetOf = (id: string): string => `${PREFIX}${id}`;

export interface Made {
  readonly status: string;
  readonly changeSets: readonly string[];
}

/** Whether the last operation on a stack belongs to the deployment with this change set. */
export const isDoneBy = ({ changeSets }: Made, changeSet: string): boolean =>
  changeSets.length > 0 && changeSets.every((name) => name === changeSet);

/** Whether that deployment created the stack, and the stack was not updated since. */
export const isMadeBy = (stack: Made, changeSet: string): boolean =>
  isDoneBy(stack, changeSet) && !stack.status.startsWith('UPDATE_');

/** Whether a stack has no resources, and all its change sets belong to deployments of Groupage. */
export const waitsForUs = ({ status, changeSets }: Made): boolean =>
  stateOf(status) === 'review' && changeSets.length > 0 && changeSets.every((name) => name.startsWith(PREFIX));
