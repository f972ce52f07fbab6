/** The queue ports on simulated queues. */
import { printBatch, printElect, printGroup } from '../batching/messages.ts';
import type { DeadLetter, DeadLetters, Queues, Rejection, WorkingQueue } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import type { QueuedMessage, SimulatedQueue } from './queue.ts';

export type SimulatedQueues = Readonly<Record<WorkingQueue, SimulatedQueue>>;

export const memoryQueues = (queues: SimulatedQueues, rejected: Rejection[], gate: Gate): Queues => ({
  register: async (bodies) => {
    await gate(
      'queues.register',
      bodies.map((body) => () => queues.register.send(body)),
    );
  },
  elect: async (messages) => {
    await gate(
      'queues.elect',
      messages.map((message) => () => queues.elect.send(printElect(message))),
    );
  },
  group: (message, delay) => through(gate, 'queues.group', () => void queues.group.send(printGroup(message), delay)),
  batch: (message, delay) => through(gate, 'queues.batch', () => void queues.batch.send(printBatch(message), delay)),
  reject: async (rejections) => {
    await gate(
      'queues.reject',
      rejections.map((rejection) => () => rejected.push(rejection)),
    );
  },
});

export const memoryDeadLetters = (queues: SimulatedQueues, gate: Gate): DeadLetters => {
  const find = (queue: WorkingQueue, { receipt }: DeadLetter): QueuedMessage | undefined =>
    [...queues[queue].deadLetters].find(({ id }) => id === receipt);
  return {
    receive: (queue) =>
      through(gate, 'deadLetters.receive', () =>
        [...queues[queue].deadLetters]
          .slice(0, 10)
          .map(({ id, body, revivals }) => ({ messageId: id, body, revivals, receipt: id })),
      ),
    revive: (queue, { body, revivals }, delay) =>
      through(gate, 'deadLetters.revive', () => void queues[queue].send(body, delay, revivals + 1)),
    remove: (queue, letter) =>
      through(gate, 'deadLetters.remove', () => {
        const message = find(queue, letter);
        if (message) queues[queue].delete(message);
      }),
  };
};
