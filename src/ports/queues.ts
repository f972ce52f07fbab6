/** The queues between the functions, and their dead letters and rejected messages. */
import type {
  BatchMessage,
  ElectMessage,
  GrantMessage,
  GroupMessage,
  ResumeMessage,
} from '../domain/batches/messages.ts';
import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import type { Millis } from '../domain/ids.ts';
import type { Sender } from '../domain/producers/sender.ts';
import type { Rejection } from '../domain/register/rejection.ts';

/** Sends messages between the functions. `delay` is in whole seconds, 0 to 900. */
export interface Queues {
  /**
   * Sends register messages.
   * @param sender for whom this function sends them. @default - this function itself
   */
  register(bodies: readonly string[], sender?: Sender): Promise<void>;
  elect(messages: readonly ElectMessage[]): Promise<void>;
  /** Sends a message to the elect queue that ends a pause. */
  resume(message: ResumeMessage, delay: number): Promise<void>;
  /** Sends a message to the elect queue that grants moments to waiting calls under a limit. */
  grant(message: GrantMessage, delay: number): Promise<void>;
  /**
   * @param chain `new` for the guard of the next leader, which leads for other tasks than those for which this function
   *   runs. See `isForOthers`. @default - the chain of this function
   */
  group(message: GroupMessage, delay: number, chain?: 'new'): Promise<void>;
  batch(message: BatchMessage, delay: number): Promise<void>;
  reject(rejections: readonly Rejection[]): Promise<void>;
  /** Sends events to the callback function, which delivers them. */
  callbacks(messages: readonly CallbackMessage[]): Promise<void>;
  /**
   * Sends bodies of callback messages to the queue of given-up events. SQS keeps these new messages for 14 days from
   * now.
   */
  giveUp(bodies: readonly string[]): Promise<void>;
}

/** The queues that tasks flow through. Each has a dead-letter queue. */
export type WorkingQueue = 'register' | 'elect' | 'group' | 'batch';

/** All queues with a dead-letter queue. `callback`, for events, exists only if destinations are configured. */
export type SourceQueue = WorkingQueue | 'callback';

/** Queues whose messages stay until a user sends them again or deletes them: rejected messages, and given-up events. */
export type FinalQueue = 'rejected' | 'given-up';

/** Queues without a function: dead letters of a queue, rejected messages, and given-up events. */
export type DeadLetterQueue = SourceQueue | FinalQueue;

/** Approximate numbers of messages in a queue that a function processes. */
export interface Backlog {
  /** Ready to be received. */
  readonly waiting: number;
  /** Received and not deleted yet. */
  readonly inFlight: number;
  /** Sent with a delay that has not ended. */
  readonly delayed: number;
}

export interface Backlogs {
  /** Reads the approximate numbers without receiving messages. */
  of(queue: SourceQueue): Promise<Backlog>;
}

/** A message that was received too often, or refused. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  /** How often the message has been sent again so far. */
  readonly revivals: number;
  /**
   * When the message was sent or refused, by SQS's clock. Moving a message to a dead-letter queue does not change this
   * time.
   */
  readonly sentAt: Millis;
  /**
   * When the first message of a series of repetitions was sent, by SQS's clock. Equal to `sentAt` if this message
   * repeats none.
   */
  readonly firstSentAt: Millis;
  /** Who sent a register message. It is kept when the message is sent again. */
  readonly sender?: Sender;
  /** Needed to delete the message. It is valid until the visibility timeout ends. */
  readonly receipt: string;
}

export interface DeadLetters {
  /**
   * Receives some messages of the queue's dead-letter queue, or of the rejected queue. Empty if no messages are there,
   * or if other readers have received them all.
   *
   * @param hiddenFor how long no other reader receives them, in whole seconds. @default - 30, SQS's own default
   */
  receive(queue: DeadLetterQueue, hiddenFor?: number): Promise<readonly DeadLetter[]>;
  /** Makes received messages visible again at once. Messages that were deleted meanwhile are left out. */
  release(queue: DeadLetterQueue, deadLetters: readonly Pick<DeadLetter, 'messageId' | 'receipt'>[]): Promise<void>;
  /**
   * Sends the body, which may have been changed, to the working queue after `delay` seconds. Returns the new message's
   * id.
   */
  redrive(queue: SourceQueue, deadLetter: DeadLetter, delay: number): Promise<string>;
  remove(queue: DeadLetterQueue, deadLetter: DeadLetter): Promise<void>;
  /** Approximate number of messages, including those in flight. Does not receive any. */
  count(queue: DeadLetterQueue): Promise<number>;
}
