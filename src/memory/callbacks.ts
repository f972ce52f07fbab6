/**
 * The ports of the callback function in memory: messages of a simulated queue that are put off, and the shares of
 * destinations.
 */

import { NEW_SHARE, type Share } from '../domain/callbacks/share.ts';
import type { Returns, Shares } from '../ports/callbacks.ts';
import { type Gate, openGate, through } from '../virtual/gate.ts';
import type { QueuedMessage, SimulatedQueue } from './queue.ts';
import { type Lag, rowBehind, upToDate } from './remembered.ts';

/** Received messages, in the form that a function gets. */
export const receivedFrom = (messages: readonly QueuedMessage[]) =>
  messages.map((message) => {
    const { id, body, receives } = message;
    return { messageId: id, body, receives, receipt: receiptOf(message), message };
  });

const receiptOf = ({ id, receives, copyOf }: QueuedMessage): string => `${id}/${receives}${copyOf ? '/copy' : ''}`;

/** @param taken the messages that one invocation received */
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

/** A map with a single row. It may be a map that remembers earlier values. */
export type ShareRow = Map<'share', Share>;

export const memoryShares = (row: ShareRow, gate: Gate, lag: Lag = upToDate): Shares => ({
  read: (how) =>
    through(
      gate,
      'shares.read',
      () => (how === 'now' ? row.get('share') : rowBehind(row, 'share', lag())) ?? NEW_SHARE,
    ),
  write: (share) =>
    through(gate, 'shares.write', () => {
      if ((row.get('share') ?? NEW_SHARE).version !== share.version) return false;
      row.set('share', { ...share, version: share.version + 1 });
      return true;
    }),
});
