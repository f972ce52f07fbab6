/**
 * Who made a stack, by its change set. Pure.
 *
 * Every deployment gives its change sets a name of its own, and so knows again what it made: that a stack was absent
 * when it looked does not make it this deployment's, since another one may have looked at the same time.
 */
import { stateOf } from './stack-state.ts';

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
