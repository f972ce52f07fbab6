/**
 * Runs once before the suite: starts the backend that `GROUPAGE_BACKEND` names, and gives its data to the test files.
 */
import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { type BackendName, backendName, type Given } from './given.ts';

/** A backend that runs for the whole suite. */
export interface Started {
  readonly given: Given;
  stop(): Promise<void>;
}

/** How to start each backend. Loaded on demand, since each needs other modules. */
const STARTS: Readonly<Record<BackendName, () => Promise<Started>>> = {
  embedded: async () => {
    // On this backend the permissions that the functions use are recorded for test/permissions.
    process.env.GROUPAGE_PERMISSIONS = temporaryFolder('permissions');
    return { given: { functions: 'here' }, stop: async () => {} };
  },
  'local-processes': async () => (await import('./local-processes.ts')).startLocalProcesses(),
  containers: async () => (await import('./containers.ts')).startContainers(),
  ministack: async () => (await import('./ministack.ts')).startOnMinistack(),
  aws: async () => (await import('./aws.ts')).startOnAws(),
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const name = backendName();
  const { given, stop } = await STARTS[name]();
  project.provide('backend', given);
  return stop;
}
