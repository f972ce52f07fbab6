/**
 * What CloudFormation's states of a stack mean for a deployment. Pure.
 *
 * ```
 * absent ──► (being made) ──► whole ──► (being changed) ──► whole        whole: can be changed, can be removed
 *                │                            └─► stuck                  stuck: needs a person, or to be removed
 *                └─► broken: never was whole, `cdk deploy` and `destroy` remove it first
 * ```
 */
import { keepsData, stackNames } from '../../lib/stage.ts';

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
        return `${name} could not be removed entirely: its events in CloudFormation say what is in the way, and docs/deploying.md ("Removing") how to remove it by hand`;
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
