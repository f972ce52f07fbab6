/** Pollers of one queue: each receives some messages, has them handled, and deletes those that are done. */

import { AsyncResource } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

export interface Polling {
  /** Takes no more messages, and resolves when those in hand are done. */
  stop(): Promise<void>;
}

/** What one receive gets at the most. */
export const AT_ONCE = 10;

export interface Source {
  readonly queueUrl: string;
  /** Messages of an invocation at the most. */
  readonly batchSize: number;
  /** Invocations at once. */
  readonly concurrency: number;
  readonly sleepers: Sleepers;
  readonly sqs: SQSClient;
  readonly onError: (error: Error) => void;
}

/** Which of some messages are done: those that failed become visible again when their time is up, the others are deleted. */
export type Handle = (messages: readonly Message[]) => Promise<ReadonlySet<Message>>;

/**
 * Begins with `count` pollers, and adds one whenever all have messages in hand, up to the source's `concurrency`. Messages that
 * sleep do not count towards it: they give this machine nothing to do, and must not hold up others. Added pollers end when
 * they receive nothing.
 */
export const startPollers = (source: Source, count: number, handle: Handle): Polling => {
  const { concurrency, sleepers } = source;
  const pollers = new Set<Poller>();
  // Bound to where polling began: an invocation that falls asleep would hand on its own time limit (src/aws/call-time.ts).
  const beginIfBusy = AsyncResource.bind((): void => {
    if (pollers.size < concurrency + sleepers.count && [...pollers].every(({ isBusy }) => isBusy())) begin();
  });
  const begin = (): void => {
    const poller = startPoller(source, handle, {
      onBusy: beginIfBusy,
      onIdle: () => {
        if (pollers.size > count && pollers.delete(poller)) poller.stop();
      },
    });
    pollers.add(poller);
  };
  for (let n = 0; n < count; n += 1) begin();
  sleepers.onSleep = beginIfBusy;
  return {
    stop: async () => {
      sleepers.onSleep = () => {};
      await Promise.all([...pollers].map((poller) => poller.stop()));
    },
  };
};

interface Poller extends Polling {
  /** Whether it has messages in hand. */
  isBusy(): boolean;
}

interface Told {
  onBusy(): void;
  onIdle(): void;
}

const startPoller = ({ queueUrl, batchSize, sqs, onError }: Source, handle: Handle, told: Told): Poller => {
  let work: Promise<unknown> | undefined;
  const consumer = Consumer.create({
    queueUrl,
    sqs,
    batchSize: Math.min(AT_ONCE, batchSize),
    waitTimeSeconds: 20,
    messageSystemAttributeNames: ['All'],
    messageAttributeNames: ['All'],
    suppressFifoWarning: true,
    handleMessageBatch: async (messages) => {
      const processed = new Promise((resolve) => {
        consumer.once('response_processed', resolve);
      });
      work = processed;
      if (consumer.status.isRunning) told.onBusy();
      return [...(await handle(messages))];
    },
  });
  consumer.on('response_processed', () => {
    work = undefined;
  });
  consumer.on('empty', told.onIdle);
  // A poll that was broken off is no error.
  consumer.on('error', (error) => consumer.status.isRunning && onError(error));
  consumer.start();
  return {
    isBusy: () => work !== undefined,
    stop: async () => {
      // A long poll can be broken off; messages in hand are finished and deleted first.
      consumer.stop({ abort: work === undefined });
      await work;
    },
  };
};

/** Counts the messages of a function whose steps sleep, as leaders do through rests of less than a second. */
export class Sleepers {
  #count = 0;
  /** Runs whenever another message falls asleep. */
  onSleep: () => void = () => {};

  get count(): number {
    return this.#count;
  }

  readonly sleep = async (span: number): Promise<void> => {
    this.#count += 1;
    this.onSleep();
    await setTimeout(span);
    this.#count -= 1;
  };
}
