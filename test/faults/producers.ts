/** Producers that keep sending through every outage: each repeats a request until it is acknowledged. */
import { setTimeout } from 'node:timers/promises';
import { SendMessageBatchCommand, SendMessageCommand, SQSServiceException } from '@aws-sdk/client-sqs';
import { add } from '../../bench/meter.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { cards, shuffled } from './deck.ts';
import type { Sent } from './ledger.ts';
import type { StackView } from './stack-view.ts';

export interface Producers {
  readonly acknowledged: ReadonlyMap<string, Sent>;
  /** The count of each outcome of requests. */
  readonly done: ReadonlyMap<string, number>;
  /** Resolves when every task that a producer began to send is acknowledged. */
  stop(): Promise<void>;
}

/** A task to send: its message, and the Target that it will have. */
interface Task {
  readonly message: { readonly operation: string; readonly payload: object; readonly id?: string };
  readonly target: string;
}

/** Sends tasks in one request. Answers the id of each acknowledged task, and undefined for the others. */
type Send = (stack: StackView, tasks: readonly Task[], signal: AbortSignal) => Promise<readonly (string | undefined)[]>;

/** The longest wait for an answer (ms). */
const PATIENCE = 5_000;

/** A request that is invalid, so that no retry can succeed. */
class Refused extends Error {
  override readonly name = 'Refused';
}

const bySqs: Send = async ({ addresses, clients }, tasks, abortSignal) => {
  const message = { QueueUrl: addresses.queues.register, MessageBody: JSON.stringify(tasks[0]?.message) };
  const { MessageId } = await clients.sqs.send(new SendMessageCommand(message), { abortSignal });
  return [tasks[0]?.message.id ?? MessageId];
};

const bySqsBatch: Send = async ({ addresses, clients }, tasks, abortSignal) => {
  const Entries = tasks.map(({ message }, n) => ({ Id: String(n), MessageBody: JSON.stringify(message) }));
  const command = new SendMessageBatchCommand({ QueueUrl: addresses.queues.register, Entries });
  const { Successful = [] } = await clients.sqs.send(command, { abortSignal });
  const ids = new Map(Successful.map(({ Id, MessageId }) => [Number(Id), MessageId]));
  return tasks.map(({ message }, n) => (ids.has(n) ? (message.id ?? ids.get(n)) : undefined));
};

const byApi: Send = async ({ addresses }, tasks, signal) => {
  const response = await fetch(`${addresses.api}/tasks`, {
    method: 'POST',
    body: JSON.stringify({ tasks: tasks.map(({ message }) => message) }),
    signal,
  });
  if (response.status >= 400 && response.status < 500) throw new Refused(await response.text());
  if (!response.ok) throw new Error(`the API answered ${response.status}`);
  return ((await response.json()) as { ids: string[] }).ids;
};

const WAYS: Readonly<Record<string, { readonly send: Send; readonly most: number; readonly named: boolean }>> = {
  'SendMessage, with ids': { send: bySqs, most: 1, named: true },
  'SendMessage, without ids': { send: bySqs, most: 1, named: false },
  'SendMessageBatch, with ids': { send: bySqsBatch, most: 10, named: true },
  'SendMessageBatch, without ids': { send: bySqsBatch, most: 10, named: false },
  'POST /v1/tasks, with ids': { send: byApi, most: 10, named: true },
  'POST /v1/tasks, without ids': { send: byApi, most: 10, named: false },
};

/** Faults that producers cause on purpose. Each must occur in a valid run. */
export const PRODUCER_DEEDS: readonly string[] = [
  'does not wait for the answer, and sends again',
  'gets no answer, and sends again',
  'sends again what was acknowledged',
];
const [HANGS_UP, GETS_NONE, REPEATS] = PRODUCER_DEEDS as [string, string, string];
/** Requests and rounds without such a fault, for each one with it. */
const USUAL = 9;

/** Starts one producer for each way of sending. @param operations of the tasks */
export const startProducers = (stack: StackView, operations: readonly string[], seed: number): Producers => {
  const acknowledged = new Map<string, Sent>();
  const done = new Map<string, number>();
  let stopping = false;
  let count = 0;
  const drawRequest = shuffled(seeded(seed), cards([HANGS_UP], USUAL));
  const drawRound = shuffled(seeded(seed), cards([REPEATS], USUAL));

  const newTask = (random: Random, named: boolean): Task => {
    count += 1;
    const [operation, depot] = [random.pick(operations), `D${random.int(1, 6)}`];
    // Some are so large that they get a row of their own.
    const payload = { depot, n: count, text: 'x'.repeat(random.chance(0.1) ? 3_000 : random.int(0, 40)) };
    return {
      message: { operation, payload, ...(named ? { id: `own-${count}` } : {}) },
      target: `${operation}/depot=${depot}`,
    };
  };

  const produce = async (via: string, random: Random): Promise<void> => {
    const way = WAYS[via] as (typeof WAYS)[string];
    /** One request. @returns the tasks that were not acknowledged */
    const request = async (tasks: readonly Task[], patience: number): Promise<readonly Task[]> => {
      const ids = await way.send(stack, tasks, AbortSignal.timeout(patience));
      for (const [n, { message, target }] of tasks.entries()) {
        const id = ids[n];
        if (id !== undefined) acknowledged.set(id, { payload: message.payload, target, via, at: Date.now() });
      }
      return tasks.filter((_, n) => ids[n] === undefined);
    };
    const untilAcknowledged = async (tasks: readonly Task[]): Promise<void> => {
      for (let open = tasks; open.length > 0; ) {
        const hangsUp = way.named && drawRequest() === HANGS_UP;
        try {
          open = await request(open, hangsUp ? random.int(1, 10) : PATIENCE);
          add(done, 'is answered');
        } catch (cause) {
          if (cause instanceof Refused || (cause instanceof SQSServiceException && cause.$fault === 'client'))
            throw cause;
          add(done, hangsUp ? HANGS_UP : GETS_NONE);
          await setTimeout(random.int(100, 500));
        }
      }
    };
    while (!stopping) {
      const tasks = Array.from({ length: random.int(1, way.most) }, () => newTask(random, way.named));
      await untilAcknowledged(tasks);
      if (way.named && drawRound() === REPEATS) {
        add(done, REPEATS);
        await untilAcknowledged(tasks);
      }
      await setTimeout(random.int(100, 800));
    }
  };
  const all = Object.keys(WAYS).map((via, n) => produce(via, seeded(seed + n)));
  return {
    acknowledged,
    done,
    stop: async () => {
      stopping = true;
      await Promise.all(all);
    },
  };
};
