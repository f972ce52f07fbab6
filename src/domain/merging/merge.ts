/**
 * Many requests, one job: which inputs it has to do, and which request needs which of them.
 *
 * Where two requests bring different texts for one key, the job gets that of the newer request (src/domain/tasks/age.ts): an input that
 * changed is wanted as it is now. With that the older request has what it asked for, too.
 */

import { groupBy } from '../../util/group-by.ts';
import { describeInBrief } from '../../util/problems.ts';
import type { CallItem } from '../downstream/downstream.ts';
import { type BatchId, digest, type TaskId } from '../ids.ts';
import { type Age, isNewer, isOlder, type SentWhen } from '../tasks/age.ts';
import type { TaskError } from '../tasks/task.ts';
import { type Input, type InputKey, inputsIn } from './inputs.ts';

/** An input of the union: the newest request's text stands for all of them. */
export interface MergedInput extends Brought {
  /** What all requests of the call bring for its key, this one too. */
  readonly brought: readonly Brought[];
  /** What earlier jobs stored about its key. */
  readonly known: Known;
}

/** What the requests of a call have in common. */
export interface Merged {
  /** What the requests bring for each key. Keys are in the order in which they came first. */
  readonly inputs: ReadonlyMap<InputKey, readonly Brought[]>;
  /** The keys that each request needs, each once. */
  readonly needs: ReadonlyMap<TaskId, readonly InputKey[]>;
  /** Requests whose inputs cannot be read. */
  readonly unreadable: ReadonlyMap<TaskId, TaskError>;
}

/** An input, and the request that brings it. */
interface Brought extends Input {
  readonly by: TaskId;
  readonly age: Age | undefined;
}

/** @param keys `merge.keys` of the operation, for requests that were registered before it merged */
export const merge = (items: readonly CallItem[], keys: string): Merged => {
  const inputs = new Map<InputKey, Brought[]>();
  const needs = new Map<TaskId, readonly InputKey[]>();
  const unreadable = new Map<TaskId, TaskError>();
  for (const { id, payload, age, mergeKeys = keys } of items) {
    const found = inputsIn(mergeKeys, payload);
    if (found.ok) {
      // Of two with one key in one request the last is meant, as of two members of an object.
      const own = new Map(found.value.map((input) => [input.key, input]));
      for (const input of own.values()) {
        const brought = inputs.get(input.key) ?? [];
        inputs.set(input.key, brought);
        brought.push({ ...input, by: id, age });
      }
      needs.set(id, [...own.keys()]);
    } else unreadable.set(id, { code: 'inputs-unreadable', message: describeInBrief(found.problems), retriable: true });
  }
  return { inputs, needs, unreadable };
};

/** The row of a key that a job has done. */
export interface Known {
  /** First the fingerprint of the text that the job did, '' if it is unknown. Then the marks of requests, see {@link doneWith}. */
  readonly marks: readonly string[];
  /** Of the request whose text it was done with, where that is known. */
  readonly age?: SentWhen;
}

/**
 * The row of an input that a job did: its fingerprint and age. A request of the batch that is not known to be older, and whose text was replaced,
 * gets a mark, which counts in this batch only: when the request is called about again, its text is not done after the newer one.
 */
export const doneWith = ({ fingerprint, age, brought, known }: MergedInput, batch: BatchId): Known =>
  remembered(fingerprint, age, { brought, known }, batch);

/**
 * The row of an input if the job's text is unknown: it is that of this request, or of a newer one. Requests of this batch get marks. A request of
 * another batch is called about, unless it is older.
 */
export const doneSomehow = ({ age, brought, known }: MergedInput, batch: BatchId): Known =>
  remembered(NO_TEXT, age, { brought, known }, batch);

/**
 * The new row of an input that was skipped: with marks for the batch's other requests that are not known to be older than the text that was done.
 * Undefined if the row has these marks.
 */
export const doneBefore = ({ fingerprint, age, brought, known }: MergedInput, batch: BatchId): Known | undefined => {
  const [done = NO_TEXT, ...within] = known.marks;
  if (marksOf(known.age, done, brought, batch).every((each) => within.includes(each))) return undefined;
  // A newer request asked for the text that was done: from now on requests before it are older.
  const isRaised = done === fingerprint && isOlder(known.age, age);
  return remembered(done, isRaised ? age : known.age, { brought, known }, batch);
};

const remembered = (
  done: string,
  age: SentWhen | undefined,
  { brought, known }: Pick<MergedInput, 'brought' | 'known'>,
  batch: BatchId,
): Known => {
  const within = new Set([...known.marks.slice(1), ...marksOf(age, done, brought, batch)]);
  return { marks: [done, ...[...within].slice(-WITHIN_MAX)], ...(age === undefined ? {} : { age }) };
};

/** The marks of requests that have another text than the one that was done, and are not known to be older. */
const marksOf = (age: SentWhen | undefined, done: string, brought: readonly Brought[], batch: BatchId): string[] =>
  brought.filter((each) => each.fingerprint !== done && !isOlder(each.age, age)).map(({ by }) => markWithin(batch, by));

/** No text has this fingerprint. */
const NO_TEXT = '';

/** The oldest marks go first. Mostly their batches have ended. */
const WITHIN_MAX = 50;

const markWithin = (batch: BatchId, text: string): string => digest(`${batch} ${text}`).slice(0, 22);

/** What there is to do, and what was done by earlier jobs. */
export interface Plan {
  readonly merged: Merged;
  readonly batch: BatchId;
  readonly toDo: readonly MergedInput[];
  readonly skipped: readonly MergedInput[];
}

/** Leaves out inputs that were done already, as they are now or as a newer request had them. @param known by key */
export const skip = (merged: Merged, known: ReadonlyMap<InputKey, Known>, batch: BatchId): Plan => {
  const inputs = [...merged.inputs].map(
    ([key, brought]): MergedInput => ({ ...latestOf(brought), brought, known: known.get(key) ?? NOTHING_KNOWN }),
  );
  const isDone = ({ fingerprint, by, age, known: { marks, age: done } }: MergedInput): boolean =>
    marks.includes(fingerprint) ||
    marks.includes(markWithin(batch, by)) ||
    isOlder(age, done) ||
    // As 0.2.0 marked what it replaced. It stored no age.
    (done === undefined && marks.includes(markWithin(batch, fingerprint)));
  const parts = groupBy(inputs, isDone);
  return { merged, batch, toDo: parts.get(false) ?? [], skipped: parts.get(true) ?? [] };
};

/** Of requests that are equally new, or of unknown age, the last one's. */
const latestOf = (brought: readonly Brought[]): Brought =>
  brought.reduce((best, each) => (best.age && each.age && isNewer(best.age, each.age) ? best : each));

const NOTHING_KNOWN: Known = { marks: [] };
