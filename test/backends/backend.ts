/**
 * The backend on which the suite's stack runs: one suite, several backends. A test opens one with {@link openBackend},
 * and does not depend on which. `GROUPAGE_BACKEND` chooses the backend; see docs/how-to/test-groupage.md.
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
  /** Clients with all permissions. */
  readonly clients: AwsClients;
  /** The environment variables of all functions together: names of tables and URLs of queues. */
  readonly settings: Environment;
  /** Calls the HTTP API, with credentials if it needs them. @param path below the version, e.g. `/tasks` */
  api(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Invokes a function and waits for its end. @param part of its name, e.g. `SweepHandler`. @throws the function's
   * error
   */
  invoke(part: string, event: unknown): Promise<void>;
  /** Errors that no caller received, for the message of a test that times out. */
  errors(): readonly string[];
  stop(): Promise<void>;
}

export const openBackend = async (config: Config): Promise<Backend> => {
  const given = inject('backend');
  if (given.functions === 'here') return openHere(given, config);
  // Loaded only if needed: it imports half of the AWS clients.
  const { openDeployed } = await import('./deployed.ts');
  return openDeployed(given);
};

/** The stack that this run deployed, for tests of deployments. This process uses its cloud from then on. */
export const deployedStack = (): GivenStack => {
  const given = inject('backend');
  if (given.functions === 'here')
    throw new Error('there is no cloud here: GROUPAGE_BACKEND has to be ministack or aws');
  enter(given.cloud);
  return given;
};

/** The port on which a test's downstream has to listen; 0 for any. */
export const downstreamPort = (): number => {
  const given = inject('backend');
  return given.functions === 'here' ? 0 : given.downstreamPort;
};
