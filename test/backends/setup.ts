/** Runs once before the suite: starts the backend that `GROUPAGE_BACKEND` names, and tells the test files where it is. */
import type { TestProject } from 'vitest/node';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { type BackendName, backendName, type Given } from './given.ts';

/** A backend that runs for the whole suite. */
export interface Started {
  readonly given: Given;
  stop(): Promise<void>;
}

/** How each is started; loaded when it is wanted, since each needs something else. */
const STARTS: Readonly<Record<BackendName, () => Promise<Started>>> = {
  embedded: async () => {
    // What the functions use on this one is recorded, for test/permissions to read afterwards.
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
