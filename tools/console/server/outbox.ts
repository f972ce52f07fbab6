/**
 * The messages that a page has not been sent yet: only the latest about each subject. A slow page skips outdated
 * messages. It delays no other page, and the memory it takes is limited.
 */
export interface Outbox<Message> extends AsyncIterable<Message> {
  /** @param about the subject. A newer message replaces an unsent one about the same subject. */
  put(about: string, message: Message): void;
  /** The page has closed: unsent messages are dropped. */
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
