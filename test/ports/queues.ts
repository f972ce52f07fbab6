/** Every implementation of the queue ports: the simulation, and SQS on the backend. */
import { setTimeout } from 'node:timers/promises';
import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { sqsBacklogs, sqsDeadLetters, sqsQueues } from '../../src/aws/sqs-queues.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { SimulatedQueue } from '../../src/memory/queue.ts';
import { memoryBacklogs, memoryDeadLetters, memoryQueues } from '../../src/memory/queues.ts';
import type { Backlogs, DeadLetters, Queues, WorkingQueue } from '../../src/ports/queues.ts';
import { Chaos } from '../../src/virtual/chaos.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { makeResources } from '../backends/resources.ts';
import { NOW } from '../factories/factories.ts';
import type { Kind } from './describe-each.ts';

const WORKING: readonly WorkingQueue[] = ['register', 'elect', 'group', 'batch'];

interface StartedQueues {
  readonly queues: Queues;
  readonly deadLetters: DeadLetters;
  readonly backlogs: Backlogs;
  /** Waits until `count` messages have come or the time is over, and deletes them. */
  received(queue: WorkingQueue, count: number): Promise<string[]>;
  /** The time of this queue's clock, in milliseconds. */
  now(): number;
  /** The messages that arrive within the time. Deletes them. */
  within(queue: WorkingQueue, seconds: number): Promise<string[]>;
  /** Receives the messages that wait, so that they are in flight for a while. */
  hold(queue: WorkingQueue): Promise<void>;
  /** Fails every message of a queue until it is a dead letter. */
  exhaust(queue: WorkingQueue): Promise<void>;
  rejected(): Promise<string[]>;
  /** Lets time pass, in seconds. */
  pass(seconds: number): Promise<unknown>;
  stop(): Promise<void>;
}

/** The longest time to wait for an expected message, in seconds. */
const PATIENCE = 30;

const inSimulation = async (): Promise<StartedQueues> => {
  const scheduler = new Scheduler(NOW);
  const chaos = new Chaos(scheduler, { seed: 1, rates: NO_FAULTS, faultsEnd: 0 }, () => {});
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
    deadLetters: memoryDeadLetters(simulated, rejections, openGate, undefined, () => scheduler.now),
    backlogs: memoryBacklogs(simulated, openGate),
    received: async (queue, count) => {
      const come = arrived.get(queue) ?? [];
      for (let second = 0; second < PATIENCE && come.length < count; second += 1) await pass(1);
      return come.splice(0);
    },
    now: () => scheduler.now,
    within: async (queue, seconds) => {
      await pass(seconds);
      return arrived.get(queue)?.splice(0) ?? [];
    },
    hold: async (queue) => {
      failing.add(queue);
      await pass(0.5);
      failing.delete(queue);
    },
    exhaust: async (queue) => {
      failing.add(queue);
      await pass(60);
      failing.delete(queue);
    },
    rejected: async () => rejections.map(({ messageId }) => messageId),
    pass,
    stop: async () => {},
  };
};

const onBackend = async (): Promise<StartedQueues> => {
  const { clients, queues: urls, deadLetters: letters, stop } = await makeResources();
  const { sqs } = clients;
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
  const collect = async (queue: WorkingQueue, seconds: number, count: number): Promise<string[]> => {
    const bodies: string[] = [];
    for (const end = Date.now() + seconds * 1_000; Date.now() <= end && bodies.length < count; await setTimeout(20))
      for (const { Body = '', ReceiptHandle } of await take(urls[queue])) {
        bodies.push(Body);
        await sqs.send(new DeleteMessageCommand({ QueueUrl: urls[queue], ReceiptHandle }));
      }
    return bodies;
  };
  return {
    queues: sqsQueues(sqs, urls),
    deadLetters: sqsDeadLetters(sqs, urls, letters, []),
    backlogs: sqsBacklogs(sqs, urls),
    received: (queue, count) => collect(queue, PATIENCE, count),
    now: Date.now,
    within: (queue, seconds) => collect(queue, seconds, Number.POSITIVE_INFINITY),
    hold: async (queue) => {
      await take(urls[queue], 60);
    },
    exhaust: async (queue) => {
      for (let receive = 0; receive < 7; receive += 1) {
        await take(urls[queue], 0);
        await setTimeout(30);
      }
    },
    rejected: async () =>
      (await take(urls.rejected)).map(({ Body = '' }) => (JSON.parse(Body) as { messageId: string }).messageId),
    pass: (seconds) => setTimeout(seconds * 1_000),
    stop,
  };
};

export const queueKinds: readonly Kind<StartedQueues>[] = [
  { name: 'the simulation', inMemory: true, start: inSimulation },
  { name: 'SQS', start: onBackend },
];
