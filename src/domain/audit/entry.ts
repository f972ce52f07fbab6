/** The audit trail: who did what through the API, from where, when and why. Pure. */
import { cutToBytes } from '../../util/utf8.ts';
import type { Millis } from '../ids.ts';

/** The actions that are recorded, with their meanings. Services that only do their work are not recorded. */
export const ACTIONS = {
  pause: 'an operation or Target was paused',
  resume: 'an operation or Target was resumed',
  flush: 'the waiting tasks of a Target were batched at once',
  cancel: 'a task, or the rest of a list, was cancelled',
  break: 'the claim of a worker on jobs of a list was ended',
  redrive: 'failed tasks or dead letters were run again',
  complete: 'the results of a batch were reported',
  repair: 'stuck Targets or batches were repaired',
  discard: 'rejected messages or given-up events were deleted',
  delete: 'a fan-out or list was deleted',
  drain: 'a node of a fleet began to give its partitions away, or stopped',
  move: 'a partition of a fleet was moved',
  separate: 'the checkpoints of a fleet were moved to rows of their own',
} as const;
export type Action = keyof typeof ACTIONS;

/** What an action was about. A name that is missing does not apply. */
export type Subject = Readonly<
  Partial<
    Record<
      | 'operation'
      | 'target'
      | 'task'
      | 'tasks'
      | 'batch'
      | 'queue'
      | 'messages'
      | 'list'
      | 'claim'
      | 'fanOut'
      | 'fleet'
      | 'node'
      | 'partition'
      | 'to'
      | 'draining',
      string
    >
  >
>;

/** Who acted, as IAM or the local server said. */
export interface Actor {
  readonly id: string;
  readonly name?: string;
  readonly arn?: string;
  readonly from?: string;
  readonly userAgent?: string;
}

/** Identifies an entry. Entries of the same millisecond differ in their id. */
export interface EntryKey {
  readonly at: Millis;
  readonly id: string;
}

export interface Entry extends EntryKey {
  readonly action: Action;
  readonly subject: Subject;
  readonly actor: Actor;
  readonly reason?: string;
  /** The HTTP status of the answer. Undefined while the action is under way, and if its outcome could not be stored. */
  readonly status?: number;
}

/** The longest reason, in characters. A pause stores it in a row that is written often. */
export const REASON_MAX = 200;
/** Most bytes of all texts about a subject: those of the longest Target, and the names beside it. */
const SUBJECT_MAX_BYTES = 600;
/** The most ids that an entry names. */
const IDS_SHOWN = 10;

/** The texts that are present. If they are too long together, the longest are cut, so that none hides another. */
export const bounded = (subject: Readonly<Record<string, string | undefined>>): Subject => {
  const texts = Object.entries(subject).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
  texts.sort(([, one], [, other]) => Buffer.byteLength(one) - Buffer.byteLength(other));
  let left = SUBJECT_MAX_BYTES;
  return Object.fromEntries(
    texts.map(([name, text], n) => {
      const cut = cutToBytes(text, Math.floor(left / (texts.length - n)));
      left -= Buffer.byteLength(cut);
      return [name, cut];
    }),
  );
};

/** The first ids, and the number of the others. */
export const idsInWords = (ids: readonly string[]): string => {
  const [shown, more] = [ids.slice(0, IDS_SHOWN), ids.length - IDS_SHOWN];
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** A day in UTC, such as `2026-11-27`. */
export const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day that exists. */
export const isDay = (text: string): boolean =>
  DAY_PATTERN.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
