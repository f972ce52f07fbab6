/**
 * A function's event source, which polls a queue as Lambda does. Its pollers gather at most `batchSize` messages for at
 * most `window`, and invoke the function with them. Messages that the function does not report as failed are deleted.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
 */

import { setTimeout } from 'node:timers/promises';
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Millis } from '../../src/domain/ids.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { add } from '../meter.ts';
import type { Site } from './site.ts';

/** A message as the function receives it. */
export interface Delivered {
  readonly messageId: string;
  readonly body: string;
  readonly receives: number;
}

export interface Source {
  /** The name of the function. */
  readonly name: string;
  readonly queueUrl: string;
  readonly batchSize: number;
  /** The batch window, in milliseconds. @default 0 */
  readonly window?: Millis;
  /**
   * Whether the number of concurrent invocations grows with the number of messages. Otherwise each poller has one
   * invocation at a time.
   */
  readonly scales?: boolean;
  /** Handles messages. @returns the ids of the messages that failed */
  readonly handle: (messages: readonly Delivered[]) => Promise<readonly string[]>;
}

export interface Polling {
  /** Stops receiving messages. Resolves when the messages already received are done. */
  stop(): Promise<void>;
}

/** The number of pollers with which Lambda starts. */
const POLLERS = 5;
/** The most messages of a receive request or a delete request. */
const ENTRIES = 10;
/** The longest time of a poll, in seconds. */
const LONG_POLL = 20;
/** The largest size of an invocation's event: 6 MB. Each record has overhead in addition to its body. */
const EVENT_BYTES = 6_000_000;
const RECORD_BYTES = 600;

/** The counters of requests, invocations and errors. */
type Payer = Pick<Site, 'polling' | 'usage' | 'errors'>;

export const startSource = (payer: Payer, source: Source): Polling => {
  const pollers = Array.from({ length: POLLERS }, () => new Poller(payer, source));
  const running = pollers.map((poller) => poller.run());
  return {
    stop: async () => {
      for (const poller of pollers) poller.stop();
      await Promise.all(running);
    },
  };
};

class Poller {
  readonly #payer: Payer;
  readonly #source: Source;
  readonly #sqs: SQSClient;
  readonly #idle = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(payer: Payer, source: Source) {
    this.#payer = payer;
    this.#source = source;
    this.#sqs = payer.polling.sqs;
  }

  stop(): void {
    this.#idle.abort();
  }

  async run(): Promise<void> {
    while (!this.#idle.signal.aborted) {
      const messages = await this.#gather();
      if (messages.length === 0) continue;
      const work = this.#invoke(messages).finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
      if (!this.#source.scales) await work;
    }
    await Promise.all(this.#underWay);
  }

  async #gather(): Promise<Message[]> {
    const { batchSize, window = 0 } = this.#source;
    const messages = await this.#receive(Math.min(ENTRIES, batchSize), LONG_POLL);
    let bytes = sizeOf(messages);
    const until = Date.now() + window;
    while (messages.length > 0 && messages.length < batchSize && bytes < EVENT_BYTES && Date.now() < until) {
      const left = until - Date.now();
      // A long poll takes whole seconds only. The rest of the window is awaited here.
      if (left < 1_000) await setTimeout(left);
      const more = await this.#receive(Math.min(ENTRIES, batchSize - messages.length), Math.floor(left / 1_000));
      messages.push(...more);
      bytes += sizeOf(more);
    }
    return messages;
  }

  async #receive(most: number, seconds: number): Promise<Message[]> {
    const receive = new ReceiveMessageCommand({
      QueueUrl: this.#source.queueUrl,
      MaxNumberOfMessages: most,
      WaitTimeSeconds: seconds,
      MessageSystemAttributeNames: ['ApproximateReceiveCount'],
    });
    try {
      const { Messages = [] } = await this.#sqs.send(receive, { abortSignal: this.#idle.signal });
      return Messages;
    } catch (cause) {
      if (!this.#idle.signal.aborted) throw cause;
      return [];
    }
  }

  async #invoke(messages: readonly Message[]): Promise<void> {
    const { usage, errors } = this.#payer;
    const { name, handle } = this.#source;
    add(usage.invocations, name);
    const from = performance.now();
    try {
      const failed = new Set(await handle(messages.map(delivered)));
      add(usage.millis, name, performance.now() - from);
      await this.#delete(messages.filter(({ MessageId = '' }) => !failed.has(MessageId)));
    } catch (cause) {
      // After an error of the function, its messages become visible again later.
      add(usage.millis, name, performance.now() - from);
      errors.push(`${name}: ${reasonOf(cause)}`);
    }
  }

  async #delete(messages: readonly Message[]): Promise<void> {
    for (let first = 0; first < messages.length; first += ENTRIES) {
      const some = messages.slice(first, first + ENTRIES);
      await this.#sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl: this.#source.queueUrl,
          Entries: some.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
        }),
      );
    }
  }
}

const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, { Body = '' }) => sum + Buffer.byteLength(Body) + RECORD_BYTES, 0);

const delivered = ({ MessageId = '', Body = '', Attributes = {} }: Message): Delivered => ({
  messageId: MessageId,
  body: Body,
  receives: Number(Attributes.ApproximateReceiveCount ?? 1),
});
