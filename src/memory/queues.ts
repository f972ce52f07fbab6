/** The queue ports on simulated queues. */

import { printBatch, printElect, printGroup } from '../domain/batches/messages.ts';
import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import type { Millis } from '../domain/ids.ts';
import type { Sender } from '../domain/producers/sender.ts';
import { printRejection, type Rejection } from '../domain/register/rejection.ts';
import type {
  Backlogs,
  DeadLetter,
  DeadLetterQueue,
  DeadLetters,
  Queues,
  SourceQueue,
  WorkingQueue,
} from '../ports/queues.ts';
import { type Gate, through } from '../virtual/gate.ts';
import type { QueuedMessage, SimulatedQueue } from './queue.ts';

export type SimulatedQueues = Readonly<Record<WorkingQueue, SimulatedQueue>> & {
  /** @default - callbacks arrive at once: no event waits, and no event becomes a dead letter */
  readonly callback?: SimulatedQueue;
};

/** The queue of events that were given up. */
export class GivenUp {
  readonly letters: DeadLetter[] = [];
  readonly #now: () => Millis;
  #put = 0;

  /** @param now returns the time at which a message is sent. @default - every message is old */
  constructor(now: () => Millis = () => 0) {
    this.#now = now;
  }

  put(body: string): void {
    this.#put += 1;
    const id = `given-up-${this.#put}`;
    const sentAt = this.#now();
    this.letters.push({ messageId: id, body, revivals: 0, sentAt, firstSentAt: sentAt, receipt: id });
  }

  remove(receipt: string): void {
    const at = this.letters.findIndex((deadLetter) => deadLetter.receipt === receipt);
    if (at !== -1) this.letters.splice(at, 1);
  }
}

/**
 * @param sentCallbacks receives each callback that is sent
 * @param givenUp the queue of events that were given up
 */
export const memoryQueues = (
  queues: SimulatedQueues,
  rejected: Rejection[],
  gate: Gate,
  sentCallbacks: Pick<CallbackMessage[], 'push'> = [],
  givenUp = new GivenUp(),
): Queues => ({
  register: async (bodies, sender = FUNCTION) => {
    await gate(
      'queues.register',
      bodies.map((body) => () => queues.register.send(body, 0, { sender })),
    );
  },
  elect: async (messages) => {
    await gate(
      'queues.elect',
      messages.map((message) => () => queues.elect.send(printElect(message))),
    );
  },
  resume: (message, delay) => through(gate, 'queues.resume', () => void queues.elect.send(printElect(message), delay)),
  grant: (message, delay) => through(gate, 'queues.grant', () => void queues.elect.send(printElect(message), delay)),
  group: (message, delay) => through(gate, 'queues.group', () => void queues.group.send(printGroup(message), delay)),
  batch: (message, delay) => through(gate, 'queues.batch', () => void queues.batch.send(printBatch(message), delay)),
  reject: async (rejections) => {
    await gate(
      'queues.reject',
      rejections.map((rejection) => () => rejected.push(rejection)),
    );
  },
  callbacks: async (messages) => {
    await gate(
      'queues.callbacks',
      messages.map((message) => () => sentCallbacks.push(message)),
    );
  },
  giveUp: async (bodies) => {
    await gate(
      'queues.giveUp',
      bodies.map((body) => () => givenUp.put(body)),
    );
  },
});

/** The sender of a message that a function sends for itself. */
const FUNCTION: Sender = { id: 'function', via: 'api' };

const queueOf = (queues: SimulatedQueues, name: SourceQueue): SimulatedQueue => {
  const queue = queues[name];
  if (!queue) throw new Error('this simulation has no callback queue');
  return queue;
};

export const memoryBacklogs = (queues: SimulatedQueues, gate: Gate): Backlogs => ({
  of: (queue) => through(gate, 'backlogs.of', () => queueOf(queues, queue).backlog()),
});

/** How long SQS hides a received message by default. */
const HIDDEN_FOR = 30;

/** @param clock the time by which received messages are hidden. @default - receiving hides no message */
export const memoryDeadLetters = (
  queues: SimulatedQueues,
  rejected: Rejection[],
  gate: Gate,
  givenUp = new GivenUp(),
  clock?: () => Millis,
): DeadLetters => {
  const hiddenUntil = new Map<string, Millis>();
  const keyOf = (queue: DeadLetterQueue, { receipt }: Pick<DeadLetter, 'receipt'>): string => `${queue} ${receipt}`;
  const receive = (queue: DeadLetterQueue, hiddenFor = HIDDEN_FOR): readonly DeadLetter[] => {
    if (!clock) return lettersOf(queue).slice(0, 10);
    const now = clock();
    const received = lettersOf(queue)
      .filter((each) => (hiddenUntil.get(keyOf(queue, each)) ?? 0) <= now)
      .slice(0, 10);
    for (const each of received) hiddenUntil.set(keyOf(queue, each), now + hiddenFor * 1_000);
    return received;
  };
  const lettersOf = (queue: DeadLetterQueue): DeadLetter[] => {
    if (queue === 'given-up') return givenUp.letters;
    return queue === 'rejected'
      ? rejected.map((each) =>
          letterOf({
            id: each.messageId,
            body: printRejection(each),
            revivals: 0,
            sentAt: each.at,
            firstSentAt: each.at,
          }),
        )
      : [...(queues[queue]?.deadLetters ?? [])].map(letterOf);
  };
  return {
    receive: (queue, hiddenFor) => through(gate, 'deadLetters.receive', () => receive(queue, hiddenFor)),
    release: (queue, deadLetters) =>
      through(gate, 'deadLetters.release', () => {
        for (const each of deadLetters) hiddenUntil.delete(keyOf(queue, each));
      }),
    redrive: (queue, { body, revivals, firstSentAt, sender }, delay) =>
      through(gate, 'deadLetters.redrive', () =>
        queueOf(queues, queue).send(body, delay, { revivals: revivals + 1, firstSentAt, sender }),
      ),
    remove: (queue, { receipt }) =>
      through(gate, 'deadLetters.remove', () => {
        if (queue === 'rejected') {
          const at = rejected.findIndex(({ messageId }) => messageId === receipt);
          if (at !== -1) rejected.splice(at, 1);
          return;
        }
        if (queue === 'given-up') return givenUp.remove(receipt);
        const from = queueOf(queues, queue);
        const message = [...from.deadLetters].find(({ id }) => id === receipt);
        if (message) from.delete(message);
      }),
    count: (queue) => through(gate, 'deadLetters.count', () => lettersOf(queue).length),
  };
};

const letterOf = ({
  id,
  body,
  revivals,
  sentAt,
  firstSentAt,
  sender,
}: Omit<QueuedMessage, 'receives' | 'deleted'>): DeadLetter => ({
  messageId: id,
  body,
  revivals,
  sentAt,
  firstSentAt,
  ...(sender ? { sender } : {}),
  receipt: id,
});
