/** The batch leader election of one task, and the workflow of the election's winner. */
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import { LEASE } from '../../../src/domain/timings.ts';
import type { Reading } from './reading.ts';
import type { IndexEntry, Tables } from './tables.ts';

/** The interval between queries of the index, and between repetitions of a failed step, in milliseconds. */
export const POLL: Millis = 1_000;

/** The state that a workflow keeps from step to step. A restarted workflow continues from this state. */
export interface Workflow {
  /** The holder's name that the workflow writes into the lock. */
  readonly id: string;
  readonly target: Target;
  /** The task for which the workflow was started. */
  readonly task: TaskId;
  /** Tasks that the workflow has already put into a batch or need not batch, even if the index still contains them. */
  readonly taken: Set<TaskId>;
  /** The batch that the workflow is forming. */
  plan: Plan | undefined;
  hasEnded: boolean;
}

interface Plan {
  readonly id: BatchId;
  readonly members: readonly TaskId[];
}

export interface LeaderDeps {
  readonly tables: Tables;
  readonly reading: Pick<Reading, 'looksAgain'>;
  readonly maxSize: number;
  readonly maxWait: Millis;
  now(): Millis;
  sleep(duration: Millis): Promise<void>;
  newBatchId(): BatchId;
  sendBatch(id: BatchId): Promise<void>;
  /** Does a step, and repeats the step until it succeeds. */
  untilDone<T>(step: () => Promise<T>): Promise<T>;
}

export const runLeader = async (deps: LeaderDeps, workflow: Workflow): Promise<void> => {
  const { tables, reading, untilDone } = deps;
  const { id, target } = workflow;
  do {
    const isLeader = await untilDone(() => tables.acquire(target, id, deps.maxWait + LEASE));
    // This workflow lost the election. The present leader finds the task.
    if (!isLeader && !workflow.plan) break;
    workflow.plan ??= { id: deps.newBatchId(), members: await gather(deps, workflow) };
    await makeBatch(deps, workflow, workflow.plan);
    workflow.plan = undefined;
    await untilDone(() => tables.release(target, id));
  } while (reading.looksAgain && unseen(workflow, await untilDone(() => tables.waiting(target))).length > 0);
  workflow.hasEnded = true;
};

/** Tasks in the index that this workflow has not handled. */
const unseen = ({ taken }: Workflow, shown: readonly IndexEntry[]): TaskId[] =>
  shown.map(({ id }) => id).filter((id) => !taken.has(id));

/**
 * Polls until a batch is full or the maximum wait is over. The workflow counts its own task even if the index does not
 * contain it.
 */
const gather = async (deps: LeaderDeps, workflow: Workflow): Promise<TaskId[]> => {
  const { tables, maxSize, maxWait, now, sleep, untilDone } = deps;
  const { task, target, taken } = workflow;
  const until = now() + maxWait;
  for (;;) {
    const waiting = unseen(workflow, await tables.poll(target));
    const members = [...new Set([...(taken.has(task) ? [] : [task]), ...waiting])];
    if (members.length < maxSize && now() < until) {
      await sleep(Math.min(POLL, until - now()));
      continue;
    }
    if (taken.has(task) || (await untilDone(() => tables.read([task])))[0]?.status === 'created')
      return members.slice(0, maxSize);
    // Another leader has batched the task in the meantime.
    taken.add(task);
  }
};

const makeBatch = async (deps: LeaderDeps, { target, taken }: Workflow, { id, members }: Plan): Promise<void> => {
  if (members.length === 0) return;
  const { tables, untilDone, sendBatch } = deps;
  await untilDone(() => tables.putBatch({ id, target, members }));
  const claimed = await untilDone(() => tables.claim(members, id));
  for (const member of members) taken.add(member);
  if (claimed.includes(true)) await untilDone(() => sendBatch(id));
};
