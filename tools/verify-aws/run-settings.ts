/** The settings of a run: its names, which begin with its stage, and the environment through which the CDK app gets them. */
import type { Environment } from '../../src/domain/deployed/environment.ts';

export interface Run {
  /** Unique part of all names of the run. */
  readonly id: string;
  readonly stage: string;
  /** Path of the configuration file. */
  readonly config: string;
  readonly functionName: string;
  readonly loadStack: string;
  /** When the run ends at the latest, in ISO 8601. */
  readonly until: string;
  /** The token in the address of the relay. Undefined without the tests for deployed stacks. */
  readonly token: string | undefined;
}

/** Begins the names of all stages of runs. */
export const STAGE_PREFIX = 'verify-';

type Given = Pick<Run, 'id' | 'config' | 'until' | 'token'>;

export const newRun = ({ id, ...given }: Given): Run => {
  const stage = `${STAGE_PREFIX}${id}`;
  return { ...given, id, stage, functionName: `groupage-${stage}`, loadStack: `Groupage-${stage}-Load` };
};

const VARIABLE = 'GROUPAGE_VERIFY_RUN';

export const environmentOf = (run: Run): Readonly<Record<string, string>> => ({ [VARIABLE]: JSON.stringify(run) });

/** @throws Error if the app is run without `npm run verify:aws` */
export const runOf = ({ [VARIABLE]: text }: Environment): Run => {
  if (text === undefined) throw new Error(`${VARIABLE} is not set: this app is only for npm run verify:aws`);
  return JSON.parse(text) as Run;
};
