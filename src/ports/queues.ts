/** The queues between the functions, and messages that were received too often or refused. */
import type { BatchMessage, ElectMessage, GroupMessage, ResumeMessage } from '../domain/batches/messages.ts';
import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import type { Millis } from '../domain/ids.ts';
import type { Rejection } from '../domain/register/rejection.ts';

/** Sends messages between the λs. `delay` is in whole seconds, 0 to 900. */
export interface Queues {
  /** Sends register messages as a producer does. */
  register(bodies: readonly string[]): Promise<void>;
  elect(messages: readonly ElectMessage[]): Promise<void>;
  /** To the elect queue, too. */
  resume(message: ResumeMessage, delay: number): Promise<void>;
  group(message: GroupMessage, delay: number): Promise<void>;
  batch(message: BatchMessage, delay: number): Promise<void>;
  reject(rejections: readonly Rejection[]): Promise<void>;
  /** Events for initiators. */
  callbacks(messages: readonly CallbackMessage[]): Promise<void>;
  /** Bodies of callback messages that are not sent again by themselves. As new messages SQS keeps them for fourteen days. */
  giveUp(bodies: readonly string[]): Promise<void>;
}

/** The queues that tasks flow through, each with a dead-letter queue. */
export type WorkingQueue = 'register' | 'elect' | 'group' | 'batch';

/** All queues with a dead-letter queue. Events wait in `callback`, which is there where there are destinations. */
export type SourceQueue = WorkingQueue | 'callback';

/** Queues without a function: a queue's dead letters, refused messages, and events that are not sent again by themselves. */
export type DeadLetterQueue = SourceQueue | 'rejected' | 'given-up';

/** About how many messages are in a queue that somebody works off. */
export interface Backlog {
  /** Whoever polls gets them. */
  readonly waiting: number;
  /** In somebody's hand. */
  readonly inFlight: number;
  /** Sent with a delay that is not over. */
  readonly delayed: number;
}

export interface Backlogs {
  /** Takes none, and hides none. */
  of(queue: SourceQueue): Promise<Backlog>;
}

/** A message that was received too often, or refused. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  /** How often it has been sent again so far. */
  readonly revivals: number;
  /** When it was sent, or refused, by the clock of its queue. To become a dead letter makes it no younger. */
  readonly sentAt: Millis;
  /** The same of the first message, if this one is a repetition of it. */
  readonly firstSentAt: Millis;
  /** Needed to delete it; ends with its visibility timeout. */
  readonly receipt: string;
}

export interface DeadLetters {
  /** Some messages of the queue's dead-letter queue, or of the rejected one; none when it is empty. */
  receive(queue: DeadLetterQueue): Promise<readonly DeadLetter[]>;
  /** Sends a letter's body, which may be a better one, to the working queue after `delay` seconds. Answers the new message's id. */
  redrive(queue: SourceQueue, deadLetter: DeadLetter, delay: number): Promise<string>;
  remove(queue: DeadLetterQueue, deadLetter: DeadLetter): Promise<void>;
  /** About how many lie there, those included that somebody has in hand. Takes none, and hides none. */
  count(queue: DeadLetterQueue): Promise<number>;
}
