/** A local stack with a real downstream, for one test file. */
import { setTimeout } from 'node:timers/promises';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { add, type Bill, metered, newBill } from '../../bench/meter.ts';
import type { FlowEvent } from '../../src/batching/events.ts';
import { createClient } from '../../src/client/client.ts';
import { type ConfigInput, parseConfig } from '../../src/config/schema.ts';
import { type LocalStack, type StackOptions, startStack } from '../../src/local/stack.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';

type OperationInput = ConfigInput['operations'][string];

export interface Flow {
  readonly stack: LocalStack;
  readonly downstream: TestDownstream;
  readonly events: FlowEvent[];
  readonly bill: Bill;
  /** Sends tasks through SQS; `tasks` are payloads, or whole messages where they have an operation. */
  send(tasks: readonly object[]): Promise<string[]>;
  task(id: string): Promise<Record<string, unknown> | undefined>;
  /** Waits until every task has succeeded or failed. */
  ended(ids: readonly string[], within?: number): Promise<Record<string, unknown>[]>;
  rejected(): Promise<{ messageId: string; body: string; errors: { path: string; reason: string }[] }[]>;
  stop(): Promise<void>;
}

const OPERATION = 'ship';

/** An operation that calls `url`, quick to give up waiting. */
export const operationAt = (url: string, fields: Partial<OperationInput> = {}): OperationInput => ({
  target: ['depot'],
  ...fields,
  downstream: { kind: 'http', url, timeout: '1s' },
  batch: { maxSize: 10, maxWait: '300ms', ...fields.batch },
  retry: { minDelay: '100ms', maxDelay: '1s', ...fields.retry },
});

export const startFlow = async (
  fields: Partial<OperationInput> = {},
  options: Partial<StackOptions> = {},
): Promise<Flow> => {
  const downstream = await startTestDownstream();
  const config = parseConfig({ operations: { [OPERATION]: operationAt(downstream.url, fields) } });
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  const events: FlowEvent[] = [];
  const bill = newBill();
  const errors: string[] = [];
  const stack = await startStack({
    config: config.value,
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: {
      log: {
        info: () => {},
        warn: () => {},
        error: (message, logged) => errors.push(`${message} ${JSON.stringify(logged)}`),
      },
      onEvent: (event) => events.push(event),
    },
    clients: (clients) => metered(clients, bill),
    onInvoke: (name) => add(bill.invocations, name),
    onError: (error) => errors.push(error.message),
    ...options,
  });
  const client = createClient({ queueUrl: stack.addresses.queues.register, sqs: stack.clients.sqs });
  const task: Flow['task'] = async (id) => {
    const response = await fetch(`${stack.addresses.api}/tasks/${encodeURIComponent(id)}`);
    return response.status === 404 ? undefined : ((await response.json()) as Record<string, unknown>);
  };
  return {
    stack,
    downstream,
    events,
    bill,
    task,
    send: (tasks) =>
      client.sendAll(
        tasks.map((each) => ('operation' in each ? each : { operation: OPERATION, payload: each }) as never),
      ),
    ended: async (ids, within = 30_000) => {
      const found = new Map<string, Record<string, unknown>>();
      for (const deadline = Date.now() + within; found.size < ids.length; await setTimeout(100)) {
        const open = ids.filter((id) => !found.has(id)).slice(0, 20);
        for (const [index, state] of (await Promise.all(open.map(task))).entries())
          if (state?.status === 'succeeded' || state?.status === 'failed') found.set(open[index] as string, state);
        if (Date.now() > deadline)
          throw new Error(
            `${ids.length - found.size} of ${ids.length} tasks did not end, e.g. ${JSON.stringify(await task(open[0] ?? ''))}; ${errors.join('; ')}`,
          );
      }
      return ids.map((id) => found.get(id) ?? {});
    },
    rejected: async () => {
      const { Messages = [] } = await stack.clients.sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: stack.addresses.queues.rejected,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 0,
        }),
      );
      return Messages.map(({ Body = '' }) => JSON.parse(Body));
    },
    stop: async () => {
      await stack.stop();
      await downstream.stop();
    },
  };
};

/** Waits until a condition holds. */
export const eventually = async (condition: () => boolean | Promise<boolean>, within = 20_000): Promise<void> => {
  for (const deadline = Date.now() + within; !(await condition()); await setTimeout(25))
    if (Date.now() > deadline) throw new Error(`did not come true within ${within} ms: ${condition}`);
};
