/**
 * Where the suite's stack runs: one suite, many backends. A test asks for one with {@link openBackend} and cannot tell
 * which it got; `GROUPAGE_BACKEND` chooses, see docs/how-to/test-groupage.md.
 */

import { inject } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { enter } from './cloud.ts';
import type { Given, GivenStack } from './given.ts';
import { openHere } from './here.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly backend: Given;
  }
}

/** A whole stack: tables, queues, functions, API. */
export interface Backend {
  /** As somebody who may do everything. */
  readonly clients: AwsClients;
  /** What the functions are told, all of it together: the names of tables and the addresses of queues. */
  readonly settings: Environment;
  /** Asks the HTTP API, with credentials where it wants them. @param path below the version, e.g. `/tasks`. */
  api(path: string, init?: RequestInit): Promise<Response>;
  /** Invokes a function and waits for its end. @param part of its name, e.g. `SweepHandler`. @throws what it threw */
  invoke(part: string, event: unknown): Promise<void>;
  /** What went wrong where nobody waits for it: for the message of a test that waits in vain. */
  errors(): readonly string[];
  stop(): Promise<void>;
}

export const openBackend = async (config: Config): Promise<Backend> => {
  const given = inject('backend');
  if (given.functions === 'here') return openHere(given, config);
  // Half of AWS's clients: only where they are wanted.
  const { openDeployed } = await import('./deployed.ts');
  return openDeployed(given);
};

/** The stack that this run deployed, for tests of deployments; its cloud is what this process talks to then. */
export const deployedStack = (): GivenStack => {
  const given = inject('backend');
  if (given.functions === 'here')
    throw new Error('there is no cloud here: GROUPAGE_BACKEND has to be ministack or aws');
  enter(given.cloud);
  return given;
};

/** Where a test's downstream has to listen; 0 for anywhere. */
export const downstreamPort = (): number => {
  const given = inject('backend');
  return given.functions === 'here' ? 0 : given.downstreamPort;
};
