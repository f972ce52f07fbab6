/** Every implementation of the queue ports: in simulation, and on the local SQS. */
import { setTimeout } from 'node:timers/promises';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { sqsDeadLetters, sqsQueues } from '../../src/aws/sqs-queues.ts';
import { synthesise } from '../../src/local/assembly.ts';
import { localClients } from '../../src/local/engines.ts';
import { createQueues } from '../../src/local/resources.ts';
import { startSqs } from '../../src/local/sqs-engine.ts';
import { CloudAssembly } from '../../src/local/template.ts';
import type { DeadLetters, Queues, Rejection, WorkingQueue } from '../../src/ports.ts';
import { type Chaos, NO_FAULTS, noFaultCounts } from '../../src/simulation/faults.ts';
import { openGate } from '../../src/simulation/gate.ts';
import { memoryDeadLetters, memoryQueues } from '../../src/simulation/memory-queues.ts';
import { SimulatedQueue } from '../../src/simulation/queue.ts';
import { seeded } from '../../src/simulation/random.ts';
import { Scheduler } from '../../src/simulation/scheduler.ts';
import { aConfig, NOW } from '../factories/factories.ts';

const WORKING: readonly WorkingQueue[] = ['register', 'elect', 'group', 'batch'];

interface StartedQueues {
  readonly queues: Queues;
  readonly deadLetters: DeadLetters;
  /** What is delivered within some seconds, deleted as it comes. */
  received(queue: WorkingQueue, seconds: number): Promise<string[]>;
  /** Lets every message of a queue fail until it is a dead letter. */
  exhaust(queue: WorkingQueue): Promise<void>;
  rejected(): Promise<string[]>;
  stop(): Promise<void>;
}

const inSimulation = async (): Promise<StartedQueues> => {
  const scheduler = new Scheduler(NOW);
  const chaos: Chaos = {
    random: seeded(1),
    scheduler,
    counts: noFaultCounts(),
    paused: new Set(),
    rates: () => NO_FAULTS,
    trace: () => {},
  };
  const arrived = new Map<WorkingQueue, string[]>(WORKING.map((name) => [name, []]));
  const failing = new Set<WorkingQueue>();
  const simulated = Object.fromEntries(
    WORKING.map((name) => [
      name,
      new SimulatedQueue(chaos, {
        name,
        visibility: 1_000,
        maxReceives: 2,
        batchSize: 10,
        consume: async (messages) => {
          if (failing.has(name)) return [];
          arrived.get(name)?.push(...messages.map(({ body }) => body));
          return messages;
        },
      }),
    ]),
  ) as Record<WorkingQueue, SimulatedQueue>;
  const rejections: Rejection[] = [];
  const pass = (seconds: number): Promise<boolean> => {
    const end = scheduler.now + seconds * 1_000;
    scheduler.after(seconds * 1_000, () => {});
    return scheduler.run(() => scheduler.now >= end, end);
  };
  return {
    queues: memoryQueues(simulated, rejections, openGate),
    deadLetters: memoryDeadLetters(simulated, openGate),
    received: async (queue, seconds) => {
      // A delayed message may be up to a second late.
      await pass(seconds + 1);
      return arrived.get(queue)?.splice(0) ?? [];
    },
    exhaust: async (queue) => {
      failing.add(queue);
      await pass(60);
      failing.delete(queue);
    },
    rejected: async () => rejections.map(({ messageId }) => messageId),
    stop: async () => {},
  };
};

const onFauxqs = async (): Promise<StartedQueues> => {
  const engine = await startSqs({ port: 0 });
  const assembly = new CloudAssembly(synthesise(aConfig()), engine.endpoint);
  const { sqs } = localClients({ sqs: engine.endpoint });
  await createQueues(assembly, sqs);
  const url = (name: string): string => assembly.urlOf({ name });
  const capital = (queue: string): string => `${queue[0]?.toUpperCase()}${queue.slice(1)}`;
  const urls = Object.fromEntries(
    [...WORKING, 'rejected' as const].map((queue) => [queue, url(`Flow-${capital(queue)}-Queue`)]),
  );
  const letters = Object.fromEntries(
    WORKING.map((queue) => [queue, url(`Flow-${capital(queue)}-DeadLetters`)]),
  ) as Record<WorkingQueue, string>;
  const take = async (queueUrl: string, visibility?: number) =>
    (
      await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: 10,
          ...(visibility === undefined ? {} : { VisibilityTimeout: visibility }),
        }),
      )
    ).Messages ?? [];
  return {
    queues: sqsQueues(sqs, urls),
    deadLetters: sqsDeadLetters(sqs, urls, letters),
    received: async (queue, seconds) => {
      const bodies: string[] = [];
      for (const end = Date.now() + seconds * 1_000; Date.now() <= end; await setTimeout(20))
        for (const { Body = '', ReceiptHandle } of await take(urls[queue] ?? '')) {
          bodies.push(Body);
          await sqs.send(new DeleteMessageCommand({ QueueUrl: urls[queue], ReceiptHandle }));
        }
      return bodies;
    },
    exhaust: async (queue) => {
      for (let receive = 0; receive < 7; receive += 1) {
        await take(urls[queue] ?? '', 0);
        await setTimeout(30);
      }
    },
    rejected: async () =>
      (await take(urls.rejected ?? '')).map(({ Body = '' }) => (JSON.parse(Body) as { messageId: string }).messageId),
    stop: () => engine.stop(),
  };
};

export const queueKinds = [
  { name: 'the simulation', start: inSimulation },
  { name: 'fauxqs', start: onFauxqs },
] as const;
