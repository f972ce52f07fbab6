/** Gathers what comes within a moment, and sends it together: one part after the other. */
import { rest } from './ask-api.ts';

/** Milliseconds. */
const MOMENT = 50;

export interface Gatherer<T> {
  add(one: T): void;
  /** Nothing is added any more: what is left goes now. */
  close(): Promise<void>;
}

/** @param send must not reject */
export const gather = <T>(send: (part: readonly T[]) => Promise<void>): Gatherer<T> => {
  const waiting: T[] = [];
  const closed = new AbortController();
  let sending: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      await rest(MOMENT, closed.signal);
      await send(waiting.splice(0));
    }
    sending = undefined;
  };
  return {
    add: (one) => {
      waiting.push(one);
      sending ??= run();
    },
    close: async () => {
      closed.abort();
      await sending;
    },
  };
};
