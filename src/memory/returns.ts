/** Messages of a simulated queue that come back after delays of their own. */
import type { Returns } from '../ports/callbacks.ts';
import { type Gate, openGate } from '../virtual/gate.ts';
import type { QueuedMessage, SimulatedQueue } from './queue.ts';

/** What a function is given of messages that it received. */
export const receivedFrom = (messages: readonly QueuedMessage[]) =>
  messages.map((message) => {
    const { id, body, receives } = message;
    return { messageId: id, body, receives, receipt: receiptOf(message), message };
  });

const receiptOf = ({ id, receives, copyOf }: QueuedMessage): string => `${id}/${receives}${copyOf ? '/copy' : ''}`;

/** @param taken the messages that one run received */
export const memoryReturns = (
  queue: SimulatedQueue,
  taken: readonly QueuedMessage[],
  gate: Gate = openGate,
): Returns => {
  const byReceipt = new Map(taken.map((message) => [receiptOf(message), [message, message.receives] as const]));
  return {
    putOff: async (messages) => {
      const done = await gate(
        'returns.putOff',
        messages.map(({ receipt, delay }) => () => {
          const [message, receives] = byReceipt.get(receipt) ?? [];
          return message !== undefined && receives !== undefined && queue.putOff(message, receives, delay);
        }),
      );
      return messages.filter((_, index) => !done[index]);
    },
  };
};
