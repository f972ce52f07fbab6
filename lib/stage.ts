/**
 * Stages. A stage is the name of a deployment. It is part of the stacks' names and decides whether the data is kept.
 */
import { InvalidOption } from './invalid-option.ts';

/** Tag on a stage's stacks. A stack with a stage's name but without this tag does not belong to Groupage. */
export const STAGE_TAG = 'groupage:stage';

/** Stages whose names begin with this keep their data when stacks are removed: prod, prod-eu, production. */
const KEEPS_DATA = 'prod';

/**
 * The characters that a stage may have. It is short because stack names have at most 128 characters, and names that
 * CloudFormation derives from them at most 64.
 */
const STAGE = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/i;

/** The names of a stage's stacks in the order of deployment. Each stack uses the earlier ones. */
export const stackNames = (stage: string) => ({
  data: `Groupage-${stage}-Data`,
  flow: `Groupage-${stage}-Flow`,
  ops: `Groupage-${stage}-Ops`,
});

/** Whether a stage's tables, and the queues that may hold tasks, are kept when its stacks are removed. */
export const keepsData = (stage: string): boolean => stage.startsWith(KEEPS_DATA);

/** The reason why a stage is invalid. Undefined if it is valid. */
export const stageProblem = (stage: string): string | undefined => {
  if (!STAGE.test(stage))
    return `a stage has 1 to 32 letters, digits and hyphens, with no hyphen at either end (dev, prod, team-a), not ${JSON.stringify(stage)}`;
  // Refuse for example `Prod`: its tables would be deleted with its stacks, which a user would not expect.
  if (!keepsData(stage) && keepsData(stage.toLowerCase()))
    return `a stage that keeps its data begins with ${KEEPS_DATA} in lower case: ${stage} would delete its data with its stacks, so write it in lower case`;
  return undefined;
};

/** @throws InvalidOption */
export const checkStage = (stage: string): string => {
  const problem = stageProblem(stage);
  if (problem !== undefined) throw new InvalidOption(problem);
  return stage;
};
