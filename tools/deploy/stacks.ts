/**
 * The stacks of a stage, as they are found in the account: their states, and who made them.
 *
 * ```
 * absent ──► (being made) ──► whole ──► (being changed) ──► whole        whole: can be changed, can be removed
 *                │                            └─► stuck                  stuck: needs a person, or to be removed
 *                └─► broken: never was whole, `cdk deploy` and `destroy` remove it first
 * ```
 *
 * Every deployment gives its change sets a name of its own, and so knows again what it made: that a stack was absent
 * when it looked does not make it this deployment's, since another one may have looked at the same time.
 */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { keepsData, stackNames } from '../../lib/stage.ts';
import { inWords } from '../account/failures.ts';
import { type Account, changeSetsOf, type FoundStack, findStack } from '../account/stacks.ts';

/** The account's number. @throws CommandFailure when there are no credentials, or none that work. */
export const whoAmI = ({ region }: Account): Promise<string> =>
  inWords('ask AWS whose credentials these are', region, async () => {
    const { Account = '' } = await new STSClient({ region }).send(new GetCallerIdentityCommand({}));
    return Account;
  });

/** A stack of a stage, with what tells who made it. */
export interface StageStack extends FoundStack {
  /** The names of the change set that was carried out last, or of those that wait. */
  readonly changeSets: readonly string[];
}

/** A stage's stacks, as far as they exist, in the order in which they are made. */
export const stacksOf = async (account: Account, stage: string): Promise<StageStack[]> => {
  const names = Object.values(stackNames(stage));
  const found = await Promise.all(names.map((name) => findStack(account, name)));
  return Promise.all(
    found
      .filter((stack) => stack !== undefined)
      .map(async (stack) => ({ ...stack, changeSets: await namesOf(account, stack) })),
  );
};

/** Several may wait for a stack that holds nothing yet; of any other one counts, `arn:…:changeSet/NAME/ID`. */
const namesOf = async (account: Account, { name, status, changeSetId }: FoundStack): Promise<readonly string[]> => {
  const carriedOut = changeSetId?.split('/').at(-2);
  return carriedOut === undefined || stateOf(status) === 'review' ? changeSetsOf(account, name) : [carriedOut];
};

/** `busy`: somebody's operation is on its way. `review`: named by a change set that nobody carried out, holds nothing. */
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

/** What to do about a stack that cannot be deployed to, in words. */
export const wayOut = (name: string, status: string, stage: string): string => {
  const destroy = destroyOf(stage);
  switch (status) {
    case 'CREATE_IN_PROGRESS':
    case 'IMPORT_IN_PROGRESS':
      return `${name} is being created by another deployment: wait until it is done, and run the command again`;
    case 'UPDATE_IN_PROGRESS':
    case 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS':
      return `${name} is being updated by another deployment: wait until it is done, and run the command again`;
    case 'DELETE_IN_PROGRESS':
      return `${name} is being removed: wait until it is gone, and run the command again`;
    case 'REVIEW_IN_PROGRESS':
      return `${name} holds nothing yet but a change set that waits for somebody to carry it out: do that, or remove it with ${destroy}`;
    case 'CREATE_FAILED':
      return `${name} failed to be created and was left as it was: remove it with ${destroy}`;
    case 'DELETE_FAILED':
      // Removing the stage leaves this one alone, so that command would change nothing.
      if (keepsData(stage) && name === stackNames(stage).data)
        return `${name} could not be removed entirely: its events in CloudFormation say what is in the way, and docs/how-to/deploy.md ("Removing") how to remove it by hand`;
      return `${name} could not be removed entirely: its events in CloudFormation say what is in the way; then ${destroy}`;
    case 'UPDATE_FAILED':
      return `${name} failed to be updated and was left as it was: take that back with \`npx cdk rollback ${name} -c stage=${stage}\``;
    case 'UPDATE_ROLLBACK_FAILED':
      return `${name} failed to be updated, and to be taken back: its events in CloudFormation say why; then \`aws cloudformation continue-update-rollback --stack-name ${name}\``;
    default:
      return status.endsWith('_IN_PROGRESS')
        ? `${name} is being rolled back (${status}): wait until that is done, and run the command again`
        : `${name} is in the state ${status}: mend it in CloudFormation, or remove it with ${destroy}`;
  }
};

const PREFIX = 'groupage-';

/** What a deployment calls its change sets. @param id of this run, and no other. */
export const changeSetOf = (id: string): string => `${PREFIX}${id}`;

export interface Made {
  readonly status: string;
  readonly changeSets: readonly string[];
}

/** Whether what happened last to a stack was done by the deployment with this change set. */
export const isDoneBy = ({ changeSets }: Made, changeSet: string): boolean =>
  changeSets.length > 0 && changeSets.every((name) => name === changeSet);

/** Whether that deployment made the stack, and nobody has changed it since. */
export const isMadeBy = (stack: Made, changeSet: string): boolean =>
  isDoneBy(stack, changeSet) && !stack.status.startsWith('UPDATE_');

/** Whether a stack that waits for its first change set waits for nothing but deployments of Groupage. */
export const waitsForUs = ({ status, changeSets }: Made): boolean =>
  stateOf(status) === 'review' && changeSets.length > 0 && changeSets.every((name) => name.startsWith(PREFIX));
