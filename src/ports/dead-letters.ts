/** Messages that were received too often, or refused. */

import type { Millis } from '../domain/ids.ts';
import type { LetterQueue, SourceQueue } from './queues.ts';

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
  receive(queue: LetterQueue): Promise<readonly DeadLetter[]>;
  /** Sends a letter's body, which may be a better one, to the working queue after `delay` seconds. Answers the new message's id. */
  revive(queue: SourceQueue, letter: DeadLetter, delay: number): Promise<string>;
  remove(queue: LetterQueue, letter: DeadLetter): Promise<void>;
  /** About how many lie there, those included that somebody has in hand. Takes none, and hides none. */
  count(queue: LetterQueue): Promise<number>;
}
