/**
 * One walk through a queue whose messages nobody works off: each letter that lay there when it began has one turn.
 *
 * What is sent again may fail again, and then lies there once more. A walk that took it for one of those that it began
 * with would never end.
 */

import type { Millis } from '../../domain/ids.ts';
import { CLOCK_SKEW } from '../../domain/timings.ts';
import type { DeadLetter } from '../../ports/dead-letters.ts';
import type { LetterQueue, SourceQueue } from '../../ports/queues.ts';
import { reasonOf } from '../../util/problems.ts';
import type { Deps } from '../deps.ts';

export type LetterDeps = Pick<Deps, 'config' | 'deadLetters' | 'queues' | 'machine' | 'report'>;

export interface Walk {
  /** Letters that were sent later have their turn in another walk. */
  readonly began: Millis;
  /** Asked before each look into the queue. @param skipped how many letters were not sent so far. */
  readonly mayGoOn: (skipped: number) => boolean;
}

/** A letter that was not sent again, and why. */
interface SkippedLetter {
  /** The SQS id of its message. */
  readonly id: string;
  readonly reason: string;
}

export interface Walked {
  /** How many letters were sent again. */
  readonly revived: number;
  readonly skipped: readonly SkippedLetter[];
  /** Whether the end of the queue was seen. Otherwise the walk was not allowed to go on. */
  readonly isDone: boolean;
}

/**
 * Gives letters their turns. One that fails keeps no other one waiting.
 *
 * @param turn says why a letter was not sent, if it was not.
 */
export const walkLetters = async (
  deps: LetterDeps,
  queue: LetterQueue,
  { began, mayGoOn }: Walk,
  turn: (letter: DeadLetter) => Promise<string | undefined>,
): Promise<Walked> => {
  const met = new Set<string>();
  const skipped: SkippedLetter[] = [];
  let revived = 0;
  const take = (letter: DeadLetter): Promise<string | undefined> =>
    turn(letter).catch((cause: unknown) => {
      deps.report({ event: 'not-revived', queue, messageId: letter.messageId, cause: String(cause) });
      return reasonOf(cause);
    });
  while (mayGoOn(skipped.length)) {
    // One that was skipped is there again when its visibility timeout ends.
    const letters = (await deps.deadLetters.receive(queue)).filter(({ messageId }) => !met.has(messageId));
    if (letters.length === 0) return { revived, skipped, isDone: true };
    for (const { messageId } of letters) met.add(messageId);
    // By the clock of SQS, which is not ours.
    const due = letters.filter(({ sentAt }) => sentAt <= began + CLOCK_SKEW);
    const reasons = await Promise.all(due.map(take));
    for (const [index, { messageId: id }] of due.entries()) {
      const reason = reasons[index];
      if (reason === undefined) revived += 1;
      else skipped.push({ id, reason });
    }
  }
  return { revived, skipped, isDone: false };
};

export interface Revival {
  readonly from: LetterQueue;
  readonly to: SourceQueue;
  readonly letter: DeadLetter;
  /** What is sent, which may be better than what was received. */
  readonly body: string;
  /** In how many seconds it is delivered. */
  readonly delay: number;
}

/**
 * Sends before it deletes: a crash in between doubles the message, which is harmless; the other way round loses it.
 *
 * @returns the SQS id of the message that was sent.
 */
export const revive = async (deps: LetterDeps, { from, to, letter, body, delay }: Revival): Promise<string> => {
  const { messageId, revivals } = letter;
  const sent = await deps.deadLetters.revive(to, { ...letter, body }, delay);
  deps.report({ event: 'revived', queue: from, messageId, revivals: revivals + 1, delay });
  await remove(deps, from, letter);
  return sent;
};

/** Takes out a letter that has had its turn. One that cannot be taken out has had it all the same: it comes once more. */
export const remove = async ({ deadLetters, report }: LetterDeps, queue: LetterQueue, letter: DeadLetter) => {
  try {
    await deadLetters.remove(queue, letter);
  } catch (cause) {
    report({ event: 'not-removed', queue, messageId: letter.messageId, cause: String(cause) });
  }
};
