/** The batch leader election of one task, and what its winner does: the leader workflow. */
import type { BatchId, Millis, Target, TaskId } from '../../../src/batching/ids.ts';
import { LEASE } from '../../../src/batching/timings.ts';
import { type Gate, through } from '../../../src/simulation/gate.ts';
import type { Reading } from './reading.ts';
import type { Store } from './store.ts';

/** How often the index is asked, and a failed step repeated. */
export const POLL: Millis = 1_000;

/** What a workflow keeps from step to step; one that is started again goes on from here. */
export interface Workflow {
  /** Names it in the lock. */
  readonly id: string;
  readonly target: Target;
  /** The task that it was started for. */
  readonly task: TaskId;
  /** Tasks that it has seen to, however the index shows them. */
  readonly taken: Set<TaskId>;
  /** The batch that it is making. */
  plan: Plan | undefined;
  hasEnded: boolean;
}

interface Plan {
  readonly id: BatchId;
  readonly members: readonly TaskId[];
}

export interface LeaderDeps {
  readonly store: Store;
  readonly reading: Reading;
  readonly maxSize: number;
  readonly maxWait: Millis;
  readonly gate: Gate;
  now(): Millis;
  sleep(duration: Millis): Promise<void>;
  newBatchId(): BatchId;
  sendBatch(id: BatchId): void;
  /** Does a step, and does it again while it fails. */
  untilDone<T>(step: () => Promise<T>): Promise<T>;
}

export const runLeader = async (deps: LeaderDeps, workflow: Workflow): Promise<void> => {
  const { store, reading } = deps;
  do {
    const isLeader = await step(deps, 'locks.acquire', () =>
      store.acquire(workflow.target, workflow.id, deps.now(), deps.maxWait + LEASE),
    );
    // Lost: the present leader will find the task.
    if (!isLeader && !workflow.plan) break;
    workflow.plan ??= { id: deps.newBatchId(), members: await gather(deps, workflow) };
    await makeBatch(deps, workflow, workflow.plan);
    workflow.plan = undefined;
    await step(deps, 'locks.release', () => store.release(workflow.target, workflow.id));
  } while (reading.looksAgain && (await step(deps, 'index.query', () => waiting(deps, workflow))).length > 0);
  workflow.hasEnded = true;
};

const step = <T>({ gate, untilDone }: LeaderDeps, call: string, effect: () => T): Promise<T> =>
  untilDone(() => through(gate, call, effect));

/** What the index shows of the tasks that nobody, as far as the workflow knows, has seen to. */
const waiting = ({ store }: LeaderDeps, { target, taken }: Workflow): TaskId[] =>
  store
    .waiting(target)
    .map(({ id }) => id)
    .filter((id) => !taken.has(id));

/** Polls until a batch is full or the time is up. Its own task it knows without the index. */
const gather = async (deps: LeaderDeps, workflow: Workflow): Promise<TaskId[]> => {
  const { store, maxSize, maxWait, now, sleep } = deps;
  const { task, taken } = workflow;
  const until = now() + maxWait;
  for (;;) {
    const members = [...new Set([...(taken.has(task) ? [] : [task]), ...waiting(deps, workflow)])];
    if (members.length < maxSize && now() < until) {
      await sleep(Math.min(POLL, until - now()));
      continue;
    }
    if (taken.has(task) || (await step(deps, 'tasks.get', () => store.task(task)))?.status === 'created')
      return members.slice(0, maxSize);
    // Another leader has seen to it since.
    taken.add(task);
  }
};

const makeBatch = async (deps: LeaderDeps, { target, taken }: Workflow, { id, members }: Plan): Promise<void> => {
  if (members.length === 0) return;
  const { store, gate, untilDone, sendBatch } = deps;
  await step(deps, 'batches.put', () => store.putBatch({ id, target, members }));
  const claims = members.map((member) => () => store.claim(member, id));
  const claimed = await untilDone(() => gate('tasks.claim', claims));
  for (const member of members) taken.add(member);
  if (claimed.includes(true)) await step(deps, 'queues.batch', () => sendBatch(id));
};
