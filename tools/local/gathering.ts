/**
 * Lambda's batching window: messages are gathered until they are as many as an invocation gets, until one more would be too
 * large for it, or until the first of them has waited for so long.
 */

/** What an invocation has room for, in bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const INVOCATION_MAX_BYTES = 6 * 1_024 * 1_024;

export interface Window<Message> {
  /** Messages of one invocation at the most. */
  readonly size: number;
  /** How long the first of them waits for others, in ms. */
  readonly wait: number;
  bytesOf(message: Message): number;
}

interface Gathered<Message> {
  readonly messages: Message[];
  bytes: number;
  readonly timer: NodeJS.Timeout;
  /** Resolves to those that are done. */
  readonly done: Promise<ReadonlySet<Message>>;
  readonly go: () => void;
}

export class Gathering<Message> {
  readonly #window: Window<Message>;
  readonly #invoke: (messages: readonly Message[]) => Promise<ReadonlySet<Message>>;
  #open: Gathered<Message> | undefined;
  #isClosed = false;

  /** @param invoke answers which of the messages are done. */
  constructor(window: Window<Message>, invoke: (messages: readonly Message[]) => Promise<ReadonlySet<Message>>) {
    this.#window = window;
    this.#invoke = invoke;
  }

  /** Resolves, once the message was handed on, to whether it is done; rejects as its invocation does. */
  async add(message: Message): Promise<boolean> {
    const bytes = this.#window.bytesOf(message);
    if (this.#open && this.#open.bytes + bytes > INVOCATION_MAX_BYTES) this.handOn();
    this.#open ??= this.#begin();
    const open = this.#open;
    open.messages.push(message);
    open.bytes += bytes;
    if (this.#isClosed || open.messages.length >= this.#window.size) this.handOn();
    return (await open.done).has(message);
  }

  /** Nobody waits for others any more. */
  close(): void {
    this.#isClosed = true;
    this.handOn();
  }

  /** Hands on what there is. */
  handOn(): void {
    if (!this.#open) return;
    clearTimeout(this.#open.timer);
    this.#open.go();
    this.#open = undefined;
  }

  #begin(): Gathered<Message> {
    const messages: Message[] = [];
    const { promise, resolve: go } = Promise.withResolvers<void>();
    return {
      messages,
      bytes: 0,
      timer: setTimeout(() => this.handOn(), this.#window.wait),
      done: promise.then(() => this.#invoke(messages)),
      go,
    };
  }
}
