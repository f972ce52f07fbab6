/**
 * The messages that were not yet sent to a page. For each subject only the latest message is kept, so a slow page skips
 * outdated messages. A slow page does not delay other pages, and its messages take limited memory.
 */
export interface Outbox<Message> extends AsyncIterable<Message> {
  /** @param about the subject. A newer message replaces an unsent one about the same subject. */
  put(about: string, message: Message): void;
  /** Ends the iteration when the page has closed. Unsent messages are dropped. */
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
