/** The names of the backends, and the data about the one that the run's setup started. */
import type { Cloud } from './cloud.ts';

const BACKENDS = ['embedded', 'local-processes', 'containers', 'ministack', 'aws'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** The backend that `GROUPAGE_BACKEND` names. @throws Error if there is no such backend */
export const backendName = (): BackendName => {
  const wanted = process.env.GROUPAGE_BACKEND ?? 'embedded';
  const name = BACKENDS.find((each) => each === wanted);
  if (!name) throw new Error(`GROUPAGE_BACKEND is ${wanted}: it has to be one of ${BACKENDS.join(', ')}`);
  return name;
};

/** Engines for tables and queues. The test's process runs the functions. */
export interface GivenEngines {
  readonly functions: 'here';
  /** @default - engines of its own for each test file */
  readonly engines?: { readonly dynamodb: string; readonly sqs: string };
}

/** A stack that was deployed once for the whole run. Its downstream listens in this process while a test file runs. */
export interface GivenStack {
  readonly functions: 'deployed';
  readonly cloud: Cloud;
  readonly stackName: string;
  /** The URL at which the functions reach the downstream, and the local port to listen on. */
  readonly downstreamUrl: string;
  readonly downstreamPort: number;
}

/** The data that the run's setup gives to each test file: plain data, since files run in processes of their own. */
export type Given = GivenEngines | GivenStack;
