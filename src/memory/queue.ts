/**
 * One SQS standard queue with its dead-letter queue, in virtual time. It delivers messages late, twice and out of
 * order.
 *
 * A message is *under way* (sent, its delay is not over), *ready* (for a poll), *in hand* (of a function; ready again
 * when its visibility timeout ends), *dead* (received too often, so it is not delivered until a redrive) or *deleted*
 * (never delivered again). `messages` contains a message until it is deleted.
 *
 * An SQS server that missed a receipt or a deletion delivers a *copy*. A copy has states of its own, and may arrive
 * after the message was deleted. Deleting a copy deletes the message. The system must not depend on a copy: `messages`
 * does not contain it, and a copy that was received too often disappears.
 */
import type { Millis } from '../domain/ids.ts';
import type { Sender } from '../domain/producers/sender.ts';
import { RETENTION } from '../domain/timings.ts';
import type { Backlog } from '../ports/queues.ts';
import type { Chaos } from '../virtual/chaos.ts';
import { anyHabits, type Habits } from '../virtual/habits.ts';
import { checkMessage } from './limits.ts';
import { Fifo } from './ordered.ts';
import { Polling } from './polling.ts';

export interface QueuedMessage {
  readonly id: string;
  readonly body: string;
  readonly revivals: number;
  readonly sentAt: Millis;
  /** When the message was first sent, before any redrive. */
  readonly firstSentAt: Millis;
  /** Who sent it. Undefined for a message that the queue's user sent. */
  readonly sender?: Sender | undefined;
  receives: number;
  deleted: boolean;
  /** The message of which this message is a copy. */
  readonly copyOf?: QueuedMessage;
}

/** Options of a message that is sent. */
interface Sending {
  /** How often the message has been redriven. @default 0 */
  readonly revivals?: number;
  /** When the message was first sent, before any redrive. @default - now */
  readonly firstSentAt?: Millis;
  readonly sender?: Sender | undefined;
  /** Additional time that this message takes to arrive, in ms. @default 0 */
  readonly late?: Millis;
}

export interface QueueOptions {
  readonly name: string;
  readonly visibility: Millis;
  readonly maxReceives: number;
  /** The maximum number of messages for one invocation of the function. */
  readonly batchSize: number;
  /** How long the first message waits for others while fewer than `batchSize` messages are ready, in ms. @default 0 */
  readonly window?: Millis;
  /**
   * Invokes the function. Resolves to the messages that the function has handled. Never resolves if the function dies.
   */
  readonly consume: (messages: readonly QueuedMessage[]) => Promise<readonly QueuedMessage[]>;
}

export class SimulatedQueue {
  readonly #chaos: Chaos;
  readonly #options: QueueOptions;
  readonly #habits: Habits;
  /** All messages that were sent and not deleted, in any state. Copies are not included. */
  readonly messages = new Set<QueuedMessage>();
  readonly deadLetters = new Set<QueuedMessage>();
  readonly #copies = new Set<QueuedMessage>();
  readonly #delayed = new Set<QueuedMessage>();
  readonly #ready = new Fifo<QueuedMessage>();
  /** Messages whose visibility timeout was changed, each with the number of the receive to which the change applies. */
  readonly #putOff = new WeakMap<QueuedMessage, number>();
  readonly #polling: Polling<QueuedMessage>;
  #inHand = 0;
  /** Whether the queue was purged, so that messages were lost on which the promises depend. */
  wasPurged = false;
  #sent = 0;
  /** Called with each message that is sent. */
  onSend: (message: QueuedMessage) => void = () => {};
  /** Called with each message that a function receives. */
  onReceive: (message: QueuedMessage) => void = () => {};
  /** Called with each message that was deleted because it was too old. */
  onLost: (message: QueuedMessage) => void = () => {};
  /** Called before a message is deleted. */
  onDelete: (message: QueuedMessage) => void = () => {};

  constructor(chaos: Chaos, options: QueueOptions, habits: Habits = anyHabits(chaos, options.name)) {
    this.#chaos = chaos;
    this.#habits = habits;
    this.#options = options;
    this.#polling = new Polling(chaos, habits, options, {
      ready: () => this.#ready.length,
      inHand: () => this.#inHand,
      take: () => this.#take(),
      deliver: (taken) => this.#deliver(taken),
    });
  }

  get isEmpty(): boolean {
    return this.messages.size === 0 && this.#copies.size === 0;
  }

  /** @returns the message's id. */
  send(body: string, delaySeconds = 0, { revivals = 0, firstSentAt, sender, late = 0 }: Sending = {}): string {
    checkMessage(body, delaySeconds);
    this.#sent += 1;
    const id = `${this.#options.name}-${this.#sent}`;
    const sentAt = this.#chaos.scheduler.now;
    const first = firstSentAt ?? sentAt;
    const message: QueuedMessage = {
      id,
      body,
      revivals,
      sentAt,
      firstSentAt: first,
      sender,
      receives: 0,
      deleted: false,
    };
    this.messages.add(message);
    this.onSend(message);
    if (delaySeconds > 0) this.#delayed.add(message);
    this.#chaos.trace(() => `  ${message.id} sent: ${body}${delaySeconds > 0 ? ` in ${delaySeconds} s` : ''}`);
    this.#later(late + this.#delay(delaySeconds, id), message);
    return id;
  }

  /** Counts messages as SQS does: a message that was sent without a delay and arrives late counts as waiting. */
  backlog(): Backlog {
    const live = [...this.messages].filter((message) => !this.deadLetters.has(message));
    const delayed = live.filter((message) => this.#delayed.has(message)).length;
    const ready = new Set(this.#ready);
    const inFlight = live.filter((message) => message.receives > 0 && !ready.has(message)).length;
    return { waiting: live.length - delayed - inFlight, inFlight, delayed };
  }

  /** The time until a message arrives, in ms. It is never shorter than the delay. */
  #delay(seconds: number, id: string): Millis {
    return seconds > 0 ? seconds * 1_000 + this.#habits.overdue(id) : this.#habits.late(id);
  }

  delete(message: QueuedMessage): void {
    if (message.copyOf) {
      this.#forget(message);
      this.delete(message.copyOf);
    } else if (!message.deleted) {
      this.onDelete(message);
      this.#forget(message);
    }
  }

  #forget(message: QueuedMessage): void {
    message.deleted = true;
    for (const place of [this.messages, this.#copies, this.deadLetters]) place.delete(message);
  }

  /** Purges the queue, as a user may do. All its messages are lost. */
  purge(): void {
    for (const message of [...this.messages, ...this.#copies]) this.#forget(message);
    this.wasPurged = true;
    this.#chaos.trace(() => `  the ${this.#options.name} queue is purged`);
  }

  /**
   * Deletes messages and dead letters that are older than the retention period. The age of a dead letter counts from
   * the time when the message was first sent.
   */
  loseOld(): void {
    for (const message of [...this.messages, ...this.#copies]) if (this.#isOld(message)) this.#lose(message);
  }

  #isOld({ sentAt }: QueuedMessage): boolean {
    return sentAt + RETENTION < this.#chaos.scheduler.now;
  }

  #lose(message: QueuedMessage): void {
    this.#forget(message);
    if (message.copyOf) return;
    this.wasPurged = true;
    this.#chaos.trace(() => `  ${message.id} is lost: it was not handled within the queue's retention period`);
    this.onLost(message);
  }

  #later(delay: Millis, message: QueuedMessage, comes: () => boolean = () => true): void {
    this.#chaos.scheduler.after(delay, () => {
      this.#delayed.delete(message);
      if (!comes()) return;
      if (message.deleted || this.deadLetters.has(message)) return;
      this.#ready.push(message);
      this.#polling.soon();
    });
  }

  /** Polls again because a poller may have become free. */
  pollAgain(): void {
    if (this.#ready.length > 0) this.#polling.soon();
  }

  #take(): QueuedMessage[] {
    const taken: QueuedMessage[] = [];
    const most = this.#habits.atOnce(this.#options.batchSize);
    while (taken.length < most && this.#ready.length > 0) {
      const message = this.#ready.take(this.#habits.nextOf(this.#ready.length));
      if (message.deleted || taken.includes(message)) continue;
      if (this.#isOld(message)) {
        this.#lose(message);
        continue;
      }
      message.receives += 1;
      if (message.receives > this.#options.maxReceives) this.#bury(message);
      else {
        taken.push(message);
        this.onReceive(message);
      }
      const again = this.#habits.again(message.id, message.copyOf !== undefined);
      if (again !== undefined) this.#copy(message, again);
    }
    return taken;
  }

  #copy(message: QueuedMessage, delay: Millis): void {
    const copy: QueuedMessage = { ...message, deleted: false, copyOf: message.copyOf ?? message };
    this.#copies.add(copy);
    this.#later(delay, copy);
  }

  #bury(message: QueuedMessage): void {
    if (message.copyOf) {
      this.#forget(message);
      return;
    }
    this.deadLetters.add(message);
    this.#chaos.trace(() => `  ${message.id} is a dead letter`);
  }

  #deliver(taken: readonly QueuedMessage[]): void {
    const { pollers } = this.#habits;
    const hidden = pollers ? this.#hideTogether(taken) : this.#hideEach(taken);
    const { scheduler } = this.#chaos;
    const from = scheduler.now;
    this.#inHand += 1;
    this.#options.consume(taken).then((done) => {
      for (const message of done) {
        if (!this.#habits.keeps(message.id)) this.delete(message);
      }
      for (const message of done) if (message.deleted) hidden.delete(message);
      this.#inHand -= 1;
      if (!pollers) return;
      pollers.handled(
        scheduler.now - from,
        taken.map(({ body }) => body),
      );
      this.pollAgain();
    });
  }

  /**
   * Delivers a message in hand again after `delay` seconds, instead of at the end of its visibility timeout. Returns
   * false if the message was deleted, or has been received again meanwhile.
   */
  putOff(message: QueuedMessage, receives: number, delay: number): boolean {
    if (message.deleted || message.receives !== receives) return false;
    // Only the message itself is delivered again. If copies were delivered again too, they would multiply.
    if (message.copyOf) {
      this.#forget(message);
      return true;
    }
    this.#putOff.set(message, receives);
    this.#later(delay * 1_000 + this.#habits.overdue(message.id), message);
    return true;
  }

  /**
   * Whether a message becomes visible when the visibility timeout of this receive ends: the message was neither put off
   * nor received again.
   */
  #comesBack(message: QueuedMessage, receives: number): boolean {
    return message.receives === receives && this.#putOff.get(message) !== receives;
  }

  #hideEach(taken: readonly QueuedMessage[]): Pick<Set<QueuedMessage>, 'delete'> {
    for (const message of taken) {
      const { receives } = message;
      this.#later(this.#options.visibility + this.#habits.hiddenLonger(), message, () =>
        this.#comesBack(message, receives),
      );
    }
    return new Set();
  }

  /**
   * Plans one event for the whole batch, to save memory in long traces. Deleted messages are removed from the batch.
   */
  #hideTogether(taken: readonly QueuedMessage[]): Pick<Set<QueuedMessage>, 'delete'> {
    const hidden = new Map(taken.map((message) => [message, message.receives]));
    this.#chaos.scheduler.after(this.#options.visibility + this.#habits.hiddenLonger(), () => {
      for (const [message, receives] of hidden) this.#later(0, message, () => this.#comesBack(message, receives));
    });
    return hidden;
  }
}
