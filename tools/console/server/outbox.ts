/**
 * What a page has yet to be sent. Of each thing the latest: a page that is slow skips what is out of date, and costs
 * neither the others time nor this process memory.
 */
export interface Outbox<Message> extends AsyncIterable<Message> {
  /** @param about what it is about: a newer message about the same takes the place of one that was not sent yet. */
  put(about: string, message: Message): void;
  /** The page has gone: what is still there is not sent. */
  close(): void;
}

export const outbox = <Message>(): Outbox<Message> => {
  const waiting = new Map<string, Message>();
  let isClosed = false;
  let wake = (): void => {};
  return {
    put: (about, message) => {
      waiting.set(about, message);
      wake();
    },
    close: () => {
      isClosed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed) {
        const [next] = waiting;
        if (next) {
          waiting.delete(next[0]);
          yield next[1];
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
};
