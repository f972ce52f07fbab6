/** The suite's stack with a real downstream, for one test file. */
import { setTimeout } from 'node:timers/promises';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { createClient } from '../../src/client/client.ts';
import { type Setting, setting } from '../../src/domain/deployed/environment.ts';
import { type Backend, downstreamPort, openBackend } from '../backends/backend.ts';
import { type ReceivedCall, startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { type OperationOfSuite, suiteConfig } from './operations.ts';

interface Rejection {
  readonly messageId: string;
  readonly body: string;
  readonly errors: readonly { readonly path: string; readonly reason: string }[];
}

/** The suite's stack, through one of its operations. */
export interface Flow {
  readonly backend: Backend;
  readonly downstream: TestDownstream;
  readonly operation: string;
  /** The same stack, through another operation. */
  of(operation: OperationOfSuite): Flow;
  /** The Target that has this depot. */
  target(depot: string): string;
  /** The calls that the downstream received for this operation, or for one of its depots. */
  calls(depot?: string): ReceivedCall[];
  /** Sends tasks through SQS. A task without an `operation` is the payload of a task of this operation. */
  send(tasks: readonly object[]): Promise<string[]>;
  /** The API's answer to a GET. */
  get(path: string): Promise<Record<string, unknown>>;
  task(id: string): Promise<Record<string, unknown> | undefined>;
  batch(id: unknown): Promise<Record<string, unknown>>;
  /** Waits until every task has succeeded or failed. @param within milliseconds */
  settled(ids: readonly string[], within?: number): Promise<void>;
  /**
   * Waits until every task has succeeded or failed. @param within milliseconds @returns the tasks as the API shows
   * them
   */
  ended(ids: readonly string[], within?: number): Promise<Record<string, unknown>[]>;
  /** The rejected messages that are visible now. */
  rejected(): Promise<Rejection[]>;
  queue(name: Extract<Setting, `${string}Queue` | `${string}DeadLetters`>): string;
  stop(): Promise<void>;
}

/**
 * The API's answer to a caller who repeats a request after 503, as that answer asks. An engine that serves a hundred
 * functions at once may answer the API later than its timeout.
 */
export const request = async (backend: Backend, path: string, init?: RequestInit): Promise<Response> => {
  for (let repeats = 0; ; repeats += 1) {
    const response = await backend.api(path, init);
    if (response.status !== 503 || repeats === 30) return response;
    await setTimeout(Number(response.headers.get('retry-after')) * 1_000);
  }
};

/** The most rows of one BatchGetItem request. */
const ROWS_AT_ONCE = 100;

/**
 * @param told the queue of the suite's destination. Engines may be shared with the stacks of other files, and each
 * stack creates the queues that its configuration names: a file that deletes its queue needs a name of its own.
 */
export const startFlow = async (operation: OperationOfSuite, told = 'groupage-suite-others'): Promise<Flow> => {
  const downstream = await startTestDownstream(undefined, { port: downstreamPort() });
  try {
    return flowOn(await openBackend(suiteConfig(downstream.url, told)), downstream, operation);
  } catch (cause) {
    await downstream.stop();
    throw cause;
  }
};

export const flowOn = (backend: Backend, downstream: TestDownstream, operation: string): Flow => {
  const queue: Flow['queue'] = (name) => setting(backend.settings, name);
  const client = createClient({ queueUrl: queue('registerQueue'), sqs: backend.clients.sqs });
  const get: Flow['get'] = async (path) => (await request(backend, path)).json() as Promise<Record<string, unknown>>;
  const target: Flow['target'] = (depot) => `${operation}/depot=${encodeURIComponent(depot)}`;
  const task: Flow['task'] = async (id) => {
    const response = await request(backend, `/tasks/${encodeURIComponent(id)}`);
    if (response.ok) return (await response.json()) as Record<string, unknown>;
    if (response.status !== 404) throw new Error(`the API answered ${response.status}: ${await response.text()}`);
    return undefined;
  };
  /** Tasks that have not succeeded or failed, read from the table: the API has no request for many tasks. */
  const stillOpen = async (ids: readonly string[]): Promise<string[]> => {
    const table = setting(backend.settings, 'taskTable');
    const ended = new Set<string>();
    for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
      const Keys = ids.slice(from, from + ROWS_AT_ONCE).map((Id) => ({ Id }));
      const { Responses } = await backend.clients.dynamodb.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
      );
      for (const { Id, Status } of Responses?.[table] ?? [])
        if (Status === 'succeeded' || Status === 'failed') ended.add(Id);
    }
    return ids.filter((id) => !ended.has(id));
  };
  const settled: Flow['settled'] = async (ids, within = 400_000) => {
    const deadline = Date.now() + within;
    for (let open = await stillOpen(ids); open.length > 0; open = await stillOpen(open)) {
      if (Date.now() > deadline)
        throw new Error(
          `${open.length} of ${ids.length} tasks did not end, e.g. ${JSON.stringify(await task(open[0] ?? ''))}; ${backend.errors().join('; ')}`,
        );
      await setTimeout(100);
    }
  };
  return {
    backend,
    downstream,
    operation,
    of: (other) => flowOn(backend, downstream, other),
    target,
    calls: (depot) =>
      downstream.calls.filter((call) =>
        depot === undefined ? call.operation === operation : call.target === target(depot),
      ),
    get,
    task,
    batch: (id) => get(`/batches/${encodeURIComponent(String(id))}`),
    queue,
    send: (tasks) =>
      client.sendAll(tasks.map((each) => ('operation' in each ? each : { operation, payload: each }) as never)),
    settled,
    ended: async (ids, within) => {
      await settled(ids, within);
      return Promise.all(ids.map(async (id) => (await task(id)) ?? {}));
    },
    rejected: async () => {
      const found: Rejection[] = [];
      for (;;) {
        // Hidden for long enough to receive the other messages, and visible again for the next call.
        const { Messages = [] } = await backend.clients.sqs.send(
          new ReceiveMessageCommand({
            QueueUrl: queue('rejectedQueue'),
            MaxNumberOfMessages: 10,
            VisibilityTimeout: 1,
          }),
        );
        if (Messages.length === 0) return found;
        found.push(...Messages.map(({ Body = '' }) => JSON.parse(Body) as Rejection));
      }
    },
    stop: async () => {
      await backend.stop();
      await downstream.stop();
    },
  };
};

/** Polls until `look` returns something truthy. @param within milliseconds @returns that value */
export const eventually = async <Found>(
  look: () => Found | Promise<Found>,
  within = 400_000,
): Promise<NonNullable<Found>> => {
  for (const deadline = Date.now() + within; ; await setTimeout(25)) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`did not come true within ${within} ms: ${look}`);
  }
};
