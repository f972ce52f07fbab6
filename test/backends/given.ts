/** The backends, and what a run's setup says of the one that it started. */
import type { Cloud } from './cloud.ts';

const BACKENDS = ['embedded', 'local-processes', 'containers', 'ministack', 'aws'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** The one that `GROUPAGE_BACKEND` names. @throws Error when there is no such backend */
export const backendName = (): BackendName => {
  const wanted = process.env.GROUPAGE_BACKEND ?? 'embedded';
  const name = BACKENDS.find((each) => each === wanted);
  if (!name) throw new Error(`GROUPAGE_BACKEND is ${wanted}: it has to be one of ${BACKENDS.join(', ')}`);
  return name;
};

/** Engines for tables and queues, to which the test's process adds the functions. */
export interface GivenEngines {
  readonly functions: 'here';
  /** @default - engines of its own for each test file */
  readonly engines?: { readonly dynamodb: string; readonly sqs: string };
}

/** A stack that was deployed once for the whole run. Its downstream listens here, as long as a test file runs. */
export interface GivenStack {
  readonly functions: 'deployed';
  readonly cloud: Cloud;
  readonly stackName: string;
  /** Where the functions reach it, and where it has to listen for that. */
  readonly downstreamUrl: string;
  readonly downstreamPort: number;
}

/** What the run's setup tells each test file: plain data, since files run in processes of their own. */
export type Given = GivenEngines | GivenStack;
