/**
 * Lambda's batching window. Messages are gathered until the batch size is reached, until one more message would exceed the
 * size of an invocation, or until the window of the first message ends.
 */

/** Maximum bytes of an invocation: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const INVOCATION_MAX_BYTES = 6 * 1_024 * 1_024;

export interface Window<Message> {
  /** Maximum number of messages of one invocation. */
  readonly size: number;
  /** Maximum wait of the first message, in ms. */
  readonly wait: number;
  bytesOf(message: Message): number;
}

interface Gathered<Message> {
  readonly messages: Message[];
  bytes: number;
  readonly timer: NodeJS.Timeout;
  /** Resolves to the messages that succeeded. */
  readonly done: Promise<ReadonlySet<Message>>;
  readonly go: () => void;
}

export class Gathering<Message> {
  readonly #window: Window<Message>;
  readonly #invoke: (messages: readonly Message[]) => Promise<ReadonlySet<Message>>;
  #open: Gathered<Message> | undefined;
  #isClosed = false;

  /** @param invoke returns the messages that succeeded. */
  constructor(window: Window<Message>, invoke: (messages: readonly Message[]) => Promise<ReadonlySet<Message>>) {
    this.#window = window;
    this.#invoke = invoke;
  }

  /** Resolves to whether the message succeeded, after its invocation; rejects if the invocation fails. */
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

  /** Ends the gathering. Each later message gets an invocation of its own at once. */
  close(): void {
    this.#isClosed = true;
    this.handOn();
  }

  /** Invokes the function with the messages gathered so far. */
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
