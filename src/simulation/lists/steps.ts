/** The steps of deferred lists that a schedule runs. */
import type { Deps } from '../../batching/deps.ts';
import { register } from '../../batching/register.ts';
import { ackEnded } from '../../batching/tell.ts';
import { append } from '../../deferred/append.ts';
import { claimJobs } from '../../deferred/claim.ts';
import { complete, release, renew } from '../../deferred/claimed.ts';
import { trigger } from '../../deferred/trigger.ts';
import { cancelRest, discard } from '../../fan-out/end.ts';
import { patrolFanOuts, visit } from '../../fan-out/patrol.ts';
import { seal } from '../../fan-out/seal.ts';

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
