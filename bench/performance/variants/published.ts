/** The published algorithm on a DynamoDB engine, with the same model as in `bench:reliability`. */
import { setTimeout } from 'node:timers/promises';
import { sendAll } from '../../../src/aws/sqs.ts';
import type { BatchId, Target, TaskId } from '../../../src/domain/ids.ts';
import { MESSAGES_AT_ONCE } from '../../../src/domain/timings.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { PRICES } from '../../../tools/simulate/prices.ts';
import { handlePublishedBatch } from '../../baselines/published/batch-handler.ts';
import { createPublishedTables, dynamoDBPublishedTables } from '../../baselines/published/dynamodb-tables.ts';
import { type LeaderDeps, POLL, runLeader } from '../../baselines/published/leader.ts';
import { PUBLISHED } from '../../baselines/published/reading.ts';
import type { Tables } from '../../baselines/published/tables.ts';
import { type Delivered, type Source, startSource } from '../event-source.ts';
import type { Site } from '../site.ts';
import { createQueue } from './queues.ts';
import { downstreamOf, type Received, tasksIn } from './tasks.ts';
import type { Running, Variant } from './variant.ts';

export const published: Variant = {
  name: 'published',
  about: `the algorithm that Groupage replaces ([model](../../bench/baselines/published.ts)), with its index by Target and Status. Each task sends one election message. The winner is a function that polls until its batch is full or due. As Step Functions executions, the elections alone would cost $${2 * PRICES.stepFunctions.perMillionTransitions} per million tasks.`,
  start: async (site) => {
    const { clients, prefix } = site;
    const names = { task: `${prefix}Task`, lock: `${prefix}BatchLock`, batch: `${prefix}Batch` };
    await createPublishedTables(clients.dynamodb, names);
    const tables = dynamoDBPublishedTables(clients.dynamodb, names, Date.now);
    const [register, elect, batch] = await Promise.all([
      createQueue(site, 'register'),
      createQueue(site, 'elect'),
      createQueue(site, 'batch'),
    ]);
    return startFunctions(site, tables, { register, elect, batch });
  },
};

interface QueueUrls {
  readonly register: string;
  readonly elect: string;
  readonly batch: string;
}

const startFunctions = (site: Site, tables: Tables, queues: QueueUrls): Running => {
  const sources = [
    startSource(site, registerSource(site, tables, queues)),
    startSource(site, electSource(site, tables, queues)),
    startSource(site, batchSource(site, tables, queues)),
  ];
  return {
    queueUrl: queues.register,
    queues: Object.values(queues),
    stop: async () => void (await Promise.all(sources.map((source) => source.stop()))),
  };
};

const registerSource = (site: Site, tables: Tables, queues: QueueUrls): Source => ({
  name: 'register',
  queueUrl: queues.register,
  batchSize: MESSAGES_AT_ONCE.register,
  handle: async (messages) => {
    await sendAll(site.clients.sqs, queues.elect, await register(tables, tasksIn(site, messages)));
    return [];
  },
});

const electSource = (site: Site, tables: Tables, queues: QueueUrls): Source => {
  const deps = leaderDeps(site, tables, async (id) => {
    await sendAll(site.clients.sqs, queues.batch, [{ body: id }]);
  });
  return {
    name: 'elect',
    queueUrl: queues.elect,
    batchSize: MESSAGES_AT_ONCE.elect,
    scales: true,
    handle: async (messages) => {
      await Promise.all(messages.map((message) => lead(deps, message)));
      return [];
    },
  };
};

const batchSource = (site: Site, tables: Tables, { batch }: QueueUrls): Source => {
  const deps = { tables, downstream: downstreamOf(site) };
  return {
    name: 'batch',
    queueUrl: batch,
    batchSize: MESSAGES_AT_ONCE.batch,
    handle: async (messages) => {
      const done = await Promise.all(
        messages.map(({ body, receives }) => handlePublishedBatch(deps, body as BatchId, receives)),
      );
      return messages.filter((_, index) => !done[index]).map(({ messageId }) => messageId);
    },
  };
};

/** Stores the tasks. @returns for each waiting task, a message that starts its election */
const register = async (tables: Tables, tasks: readonly Received[]): Promise<{ readonly body: string }[]> => {
  const createdAt = Date.now();
  const stored = await Promise.all(
    tasks.map(({ id, target, payload }) => tables.insert({ id, target, payload, status: 'created', createdAt })),
  );
  return stored
    .filter(({ status }) => status === 'created')
    .map(({ id, target }) => ({ body: JSON.stringify({ task: id, target } satisfies Election) }));
};

interface Election {
  readonly task: TaskId;
  readonly target: Target;
}

const lead = (deps: LeaderDeps, { messageId, body }: Delivered): Promise<void> => {
  const { task, target } = JSON.parse(body) as Election;
  return runLeader(deps, { id: messageId, target, task, taken: new Set(), plan: undefined, hasEnded: false });
};

let batches = 0;

const leaderDeps = (
  { load, prefix, errors }: Site,
  tables: Tables,
  sendBatch: LeaderDeps['sendBatch'],
): LeaderDeps => ({
  tables,
  reading: PUBLISHED,
  maxSize: load.maxSize,
  maxWait: load.maxWait,
  now: Date.now,
  sleep: async (span) => void (await setTimeout(span)),
  newBatchId: () => {
    batches += 1;
    return `${prefix}batch-${batches}` as BatchId;
  },
  sendBatch,
  untilDone: untilDone(errors),
});

/**
 * The number of times that a failed step is repeated: for minutes, as a workflow does. A step that fails for longer
 * indicates a defect.
 */
const TRIES = 300;

const untilDone =
  (errors: string[]): LeaderDeps['untilDone'] =>
  async (step) => {
    for (let tries = 1; ; tries += 1)
      try {
        return await step();
      } catch (cause) {
        errors.push(`a leader: ${reasonOf(cause)}`);
        if (tries === TRIES) throw cause;
        await setTimeout(POLL);
      }
  };
