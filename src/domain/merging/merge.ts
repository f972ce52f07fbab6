/**
 * Merges many requests into one job: decides which inputs the job must do, and which inputs each request needs. If two
 * requests have different texts for one key, the job gets the text of the newer request (src/domain/tasks/age.ts),
 * because the latest state of an input is wanted. Doing the newer text also answers the older request. Inputs that
 * earlier jobs did are skipped.
 */

import { describeInBrief } from '../../util/problems.ts';
import type { CallItem } from '../downstream/downstream.ts';
import { type BatchId, digest, type TaskId } from '../ids.ts';
import { type Age, isNewer, isOlder, type SentWhen } from '../tasks/age.ts';
import type { TaskError } from '../tasks/task.ts';
import { type Input, type InputKey, inputsIn } from './inputs.ts';

/** An input of the job. Its text is that of the newest request. */
export interface MergedInput extends Brought {
  /** All inputs of the call's requests that have this key, including this input. */
  readonly brought: readonly Brought[];
  /** What earlier jobs stored about the input's key. */
  readonly known: Known;
}

/** The combined inputs of all requests of a call. */
export interface Merged {
  /** The inputs of the requests for each key. The keys are in the order of their first appearance. */
  readonly inputs: ReadonlyMap<InputKey, readonly Brought[]>;
  /** The keys that each request needs, each once. */
  readonly needs: ReadonlyMap<TaskId, readonly InputKey[]>;
  /** Requests whose inputs cannot be read. */
  readonly unreadable: ReadonlyMap<TaskId, TaskError>;
}

/** An input, and the request that it comes from. */
interface Brought extends Input {
  readonly by: TaskId;
  readonly age: Age | undefined;
}

/** @param keys `merge.keys` of the operation, for requests that were registered before the operation merged */
export const merge = (items: readonly CallItem[], keys: string): Merged => {
  const inputs = new Map<InputKey, Brought[]>();
  const needs = new Map<TaskId, readonly InputKey[]>();
  const unreadable = new Map<TaskId, TaskError>();
  for (const { id, payload, age, mergeKeys = keys } of items) {
    const found = inputsIn(mergeKeys, payload);
    if (found.ok) {
      // If a request has one key twice, the last one counts, as for members of a JSON object.
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

/** The row of a key whose input a job has done. */
export interface Known {
  /**
   * First the fingerprint of the text that the job did, or '' if it is unknown. Then the marks of requests, see {@link
   * doneWith}.
   */
  readonly marks: readonly string[];
  /** When the request was sent whose text the job did, and its version, if they are known. */
  readonly age?: SentWhen;
}

/**
 * The row of an input that a job did: the fingerprint and age of the text that was done. The row also marks requests of
 * this batch whose text was replaced, unless they are known to be older. A mark counts only in this batch. If a marked
 * request is called again, its text is skipped, so that the replaced text is not done after the newer one.
 */
export const doneWith = ({ fingerprint, age, brought, known }: MergedInput, batch: BatchId): Known =>
  remembered(fingerprint, age, { brought, known }, batch);

/**
 * The row of an input if it is unknown whether the job did this request's text or a newer one. Requests of this batch
 * get marks. Requests of other batches are called, unless they are older.
 */
export const doneSomehow = ({ age, brought, known }: MergedInput, batch: BatchId): Known =>
  remembered(NO_TEXT, age, { brought, known }, batch);

/**
 * The new row of a skipped input. The row has marks for the other requests of the batch that are not known to be older
 * than the text that was done. Undefined if the row has these marks already.
 */
export const doneBefore = ({ fingerprint, age, brought, known }: MergedInput, batch: BatchId): Known | undefined => {
  const [done = NO_TEXT, ...within] = known.marks;
  if (marksOf(known.age, done, brought, batch).every((each) => within.includes(each))) return undefined;
  // A newer request has the same text as the one that was done. Requests before that newer request count as older now.
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

/**
 * The largest number of marks in a row. The oldest marks are dropped first, because their batches have usually ended.
 */
const WITHIN_MAX = 50;

const markWithin = (batch: BatchId, text: string): string => digest(`${batch} ${text}`).slice(0, 22);

/** The inputs that the job must do, and the inputs that earlier jobs did. */
export interface Plan {
  readonly merged: Merged;
  readonly batch: BatchId;
  readonly toDo: readonly MergedInput[];
  readonly skipped: readonly MergedInput[];
}

/**
 * Leaves out inputs that earlier jobs did with the same text, or with the text of a newer request.
 *
 * @param known by key
 */
export const skip = (merged: Merged, known: ReadonlyMap<InputKey, Known>, batch: BatchId): Plan => {
  const inputs = [...merged.inputs].map(
    ([key, brought]): MergedInput => ({ ...latestOf(brought), brought, known: known.get(key) ?? NOTHING_KNOWN }),
  );
  const isDone = ({ fingerprint, by, age, known: { marks, age: done } }: MergedInput): boolean =>
    marks.includes(fingerprint) ||
    marks.includes(markWithin(batch, by)) ||
    isOlder(age, done) ||
    // Release 0.2.0 marked the fingerprints of replaced texts, and stored no age.
    (done === undefined && marks.includes(markWithin(batch, fingerprint)));
  const parts = Map.groupBy(inputs, isDone);
  return { merged, batch, toDo: parts.get(false) ?? [], skipped: parts.get(true) ?? [] };
};

/** The newest input. Of inputs that are equally new, or of unknown age, the last one. */
const latestOf = (brought: readonly Brought[]): Brought =>
  brought.reduce((best, each) => (best.age && each.age && isNewer(best.age, each.age) ? best : each));

const NOTHING_KNOWN: Known = { marks: [] };
