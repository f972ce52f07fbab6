/** The steps of deferred lists that a schedule runs. */
import type { Deps } from '../../src/steps/deps.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';
import { seal } from '../../src/steps/fan-outs/seal.ts';
import { append } from '../../src/steps/lists/append.ts';
import { claimJobs } from '../../src/steps/lists/claim.ts';
import { complete, release, renew } from '../../src/steps/lists/claimed.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import { ackEnded } from '../../src/steps/tasks/tell.ts';

export const STEPS = {
  append,
  claimJobs,
  renew,
  release,
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

/** What a process in this world has: all that registering a task takes, and lists. */
export type WorldDeps = Pick<
  Deps,
  'config' | 'tasks' | 'waiting' | 'locks' | 'batches' | 'fanOuts' | 'lists' | 'queues' | 'machine' | 'report'
>;

/** What stands in for ours. */
export interface Patched {
  readonly steps?: Partial<ListSteps>;
  /** Changes what every process is given. */
  readonly deps?: (deps: WorldDeps) => WorldDeps;
}
