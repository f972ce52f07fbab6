/** Stages: what a deployment is called, which becomes part of its stacks' names and decides what becomes of its data. */

/** Marks a stack as this stage's: a stack of the same name without it is somebody else's. */
export const STAGE_TAG = 'groupage:stage';

/** Stages whose data outlives their stacks begin so: prod, prod-eu, production. */
const KEEPS_DATA = 'prod';

/** Stack names have at most 128 characters, and names that CloudFormation makes of them at most 64. */
const STAGE = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/i;

/** The names of a stage's stacks, in the order in which they are made: each uses those before it. */
export const stackNames = (stage: string) => ({
  data: `Groupage-${stage}-Data`,
  flow: `Groupage-${stage}-Flow`,
  ops: `Groupage-${stage}-Ops`,
});

/** Whether a stage's tables, and the queues that may hold tasks, stay when its stacks are removed. */
export const keepsData = (stage: string): boolean => stage.startsWith(KEEPS_DATA);

/** Why this cannot be a stage, if it cannot. */
export const stageProblem = (stage: string): string | undefined => {
  if (!STAGE.test(stage))
    return `a stage is called by 1 to 32 letters, digits and hyphens, with no hyphen at its ends (dev, prod, team-a), not ${JSON.stringify(stage)}`;
  // Its tables would be thrown away with its stacks, which nobody who typed this means.
  if (!keepsData(stage) && keepsData(stage.toLowerCase()))
    return `a stage that keeps its data begins with ${KEEPS_DATA} in small letters: ${stage} would throw it away`;
  return undefined;
};

/** A stage that cannot be: shown as one message. */
export class InvalidStage extends Error {
  override readonly name = 'InvalidStage';
  readonly stage: string;
  constructor(stage: string, problem: string) {
    super(problem);
    this.stage = stage;
  }
}

/** @throws InvalidStage */
export const checkStage = (stage: string): string => {
  const problem = stageProblem(stage);
  if (problem !== undefined) throw new InvalidStage(stage, problem);
  return stage;
};
