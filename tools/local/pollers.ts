/** Pollers of one queue. Each receives messages, passes them to a handler, and deletes those that succeeded. */

import { AsyncResource } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

export interface Polling {
  /** Stops receiving, and resolves when the messages in flight are handled. */
  stop(): Promise<void>;
}

/** Maximum number of messages that one receive request returns. */
export const AT_ONCE = 10;

export interface Source {
  readonly queueUrl: string;
  /** Maximum number of messages of one invocation. */
  readonly batchSize: number;
  /** Maximum number of concurrent invocations. */
  readonly concurrency: number;
  readonly sleepers: Sleepers;
  readonly sqs: SQSClient;
  readonly onError: (error: Error) => void;
}

/** Handles messages and returns those that succeeded. These are deleted; the others become visible again after the visibility timeout. */
export type Handle = (messages: readonly Message[]) => Promise<ReadonlySet<Message>>;

/**
 * Starts with `count` pollers, and adds one whenever all of them are busy, up to the source's `concurrency`. Sleeping
 * invocations do not count towards it: they use no processor time, and must not block others. Added pollers end when they
 * receive nothing.
 */
export const startPollers = (source: Source, count: number, handle: Handle): Polling => {
  const { concurrency, sleepers } = source;
  const pollers = new Set<Poller>();
  // Bind the function to the outer context. Otherwise a sleeping invocation would pass its own time limit on to the
  // pollers that it adds (src/aws/call-time.ts).
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
  /** Whether it has messages in flight. */
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
  // A poll that was aborted by `stop` is not an error.
  consumer.on('error', (error) => consumer.status.isRunning && onError(error));
  consumer.start();
  return {
    isBusy: () => work !== undefined,
    stop: async () => {
      // Abort a long poll, but finish and delete messages in flight first.
      consumer.stop({ abort: work === undefined });
      await work;
    },
  };
};

/** Counts the sleeping invocations of a function: leaders sleep if less than a second is left to wait. */
export class Sleepers {
  #count = 0;
  /** Called whenever an invocation starts to sleep. */
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
