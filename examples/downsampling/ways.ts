/** The two ways that are compared: one job per request, and Groupage. */
import { setTimeout } from 'node:timers/promises';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { createClient } from '../../src/client/client.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { startStack } from '../../tools/local/stack.ts';
import config from './groupage.config.ts';
import { type Request, WINDOW } from './requests.ts';
import type { Runner } from './runner.ts';

/** The time at which each successful request ended, in ms since the epoch, by the id of the request. */
type Done = ReadonlyMap<string, number>;

/** The pace of the example: real milliseconds per minute. */
export interface Pace {
  readonly minute: number;
}

/** Calls `send` for each request, at the request's time. */
const atTheirTimes = async (
  requests: readonly Request[],
  from: number,
  { minute }: Pace,
  send: (request: Request) => void,
): Promise<void> => {
  for (const request of requests) {
    await setTimeout(Math.max(0, from + request.at * minute - Date.now()));
    send(request);
  }
};

/**
 * Starts one job per request. If the runner refuses a request because too many jobs are running, the request is
 * repeated until the runner accepts it.
 */
export const oneJobEach = async (
  runner: Runner,
  requests: readonly Request[],
  from: number,
  pace: Pace,
): Promise<Done> => {
  const done = new Map<string, number>();
  const jobs: Promise<void>[] = [];
  const run = async ({ id, scenes }: Request): Promise<void> => {
    const body = JSON.stringify({ inputs: scenes });
    for (;;) {
      const { status } = await fetch(runner.url, { method: 'POST', body });
      if (status === 200) break;
      if (status !== 429) throw new Error(`the call for the job of ${id} was answered ${status}`);
      await setTimeout(pace.minute / 4);
    }
    done.set(id, Date.now());
  };
  await atTheirTimes(requests, from, pace, (request) => jobs.push(run(request)));
  await Promise.all(jobs);
  return done;
};

export interface Groupage {
  run(requests: readonly Request[], from: number): Promise<Done>;
  /**
   * Number of inputs that were skipped because an earlier job had processed them, counted from the functions' events.
   */
  readonly skipped: number;
  stop(): Promise<void>;
}

/** Starts a local stack that stores nothing. It uses the configuration beside this file, at the example's pace. */
export const startGroupage = async (runner: Runner, pace: Pace): Promise<Groupage> => {
  let skipped = 0;
  const stack = await startStack({
    config: configFor(runner, pace),
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: {
      log: { info: () => {}, warn: () => {}, error: (message, fields) => console.error(message, fields) },
      onEvent: (event) => {
        if (event.event === 'merged') skipped += event.skipped;
      },
    },
    onError: ({ message }) => console.error(message),
  });
  const client = createClient<{ downsample: Pick<Request, 'product' | 'scenes'> }>({
    queueUrl: stack.addresses.queues.register,
    sqs: stack.clients.sqs,
  });
  const tasks = dynamoDBTasks(stack.clients.dynamodb, stack.addresses.tables.task);
  return {
    run: async (requests, from) => {
      const sent: Promise<string>[] = [];
      await atTheirTimes(requests, from, pace, ({ id, product, scenes }) =>
        sent.push(client.send({ operation: 'downsample', id, payload: { product, scenes } })),
      );
      const ids = (await Promise.all(sent)) as TaskId[];
      const done = new Map<string, number>();
      for (let open = ids; open.length > 0; await setTimeout(100)) {
        const ended = new Set<TaskId>();
        for (const { id, state } of await tasks.all(open))
          if (state.status === 'succeeded' || state.status === 'failed') {
            ended.add(id);
            if (state.status === 'succeeded') done.set(id, state.finishedAt);
            else console.error(`${id} failed: ${state.error.message}`);
          }
        open = open.filter((id) => !ended.has(id));
      }
      return done;
    },
    get skipped() {
      return skipped;
    },
    stop: () => stack.stop(),
  };
};

const configFor = ({ url }: Runner, { minute }: Pace) => {
  const { downsample } = config.operations;
  if (!downsample) throw new Error('groupage.config.ts has no operation downsample');
  const batch = { ...downsample.batch, window: `${WINDOW * minute}ms` as const };
  const paced = { ...downsample, batch, downstream: { ...downsample.downstream, kind: 'http' as const, url } };
  const parsed = parseConfig({ operations: { downsample: paced } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};
