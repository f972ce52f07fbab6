/** The steps of deferred lists that a schedule runs. */

import { ListBusy } from '../../src/steps/contention.ts';
import type { RegisterDeps } from '../../src/steps/deps.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';
import { append } from '../../src/steps/lists/append.ts';
import { claimJobs } from '../../src/steps/lists/claim.ts';
import { complete } from '../../src/steps/lists/complete.ts';
import { breakClaim, release } from '../../src/steps/lists/release.ts';
import { renew } from '../../src/steps/lists/renew.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import { ackEnded } from '../../src/steps/tasks/notify.ts';

export const STEPS = {
  append,
  claimJobs,
  renew,
  release,
  breakClaim,
  complete,
  trigger,
  register,
  ackEnded,
  seal,
  cancelRest,
  discard,
  visit,
  patrolFanOuts,
};
export type ListSteps = typeof STEPS;

/** Replacements that put a known bug back. */
export interface Patched {
  readonly steps?: Partial<ListSteps>;
  /** Changes the ports of every process. */
  readonly deps?: (deps: RegisterDeps) => RegisterDeps;
}

/** The answer of a step; undefined if the list is busy with other requests and this request must be repeated. */
export const busyOr = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ListBusy) return undefined;
    throw cause;
  }
};
