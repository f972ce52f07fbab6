/**
 * Many requests, one job: which inputs it has to do, and which request needs which of them.
 *
 * Where two requests bring different texts for one key, the job gets that of the newer request (src/batching/age.ts): an input that
 * changed is wanted as it is now. With that the older request has what it asked for, too.
 */
import { type Age, isNewer } from '../batching/age.ts';
import { type BatchId, digest, type TaskId } from '../batching/ids.ts';
import { describeInBrief } from '../batching/problems.ts';
import type { TaskError } from '../batching/task.ts';
import type { CallItem } from '../downstream/downstream.ts';
import { type Input, type InputKey, inputsIn } from './inputs.ts';

/** An input of the union: the newest request's text stands for all of them. */
export interface MergedInput extends Brought {
  /** Fingerprints of the texts that were not the latest; or the requests that brought them, by their ids. */
  readonly superseded: readonly string[];
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

/** An age, without whose it is. */
type SentWhen = Omit<Age, 'id'>;

/** What is known of a key that was done. */
export interface Known {
  /** The texts that it was done for, see {@link doneWith}. */
  readonly marks: readonly string[];
  /** Of the request whose text it was done with, where that is known. */
  readonly age?: SentWhen;
}

/**
 * How it is remembered that an input was done: by its fingerprint, and for those that it superseded by theirs, which count
 * in this batch alone. A request of it that is tried again must not bring an older text back; a later one means what it says.
 */
export const doneWith = ({ fingerprint, superseded, age }: MergedInput, batch: BatchId): Known => ({
  marks: [fingerprint, ...superseded.map((each) => markWithin(batch, each))],
  ...(age === undefined ? {} : { age }),
});

/**
 * How it is remembered that an input which was skipped superseded others: beside what was known of it. Its own fingerprint may not be
 * there: it may itself have been superseded in this batch, and not done as it is.
 */
export const doneBefore = ({ known, superseded, fingerprint, age }: Skipped, batch: BatchId): Known => {
  const [done = NO_TEXT, ...within] = known.marks;
  const inThisBatch = superseded.map((each) => markWithin(batch, each));
  // A newer request asked for the text that was done: from now on requests before it are older.
  const isRaised = done === fingerprint && age !== undefined && isOlder(known.age, age);
  return {
    ...known,
    marks: [done, ...new Set([...within, ...inThisBatch].slice(-WITHIN_MAX))],
    ...(isRaised ? { age } : {}),
  };
};

/**
 * How it is remembered that an input was done with a text that nobody knows any more: one of this batch. A request of it that is
 * tried again has what it asked for; one of another batch is done once more.
 */
export const doneSomehow = ({ fingerprint, superseded, age }: MergedInput, batch: BatchId): Known => ({
  marks: [NO_TEXT, ...[fingerprint, ...superseded].map((each) => markWithin(batch, each))],
  // It was done with the text of this request or of a newer one.
  ...(age === undefined ? {} : { age }),
});

/** No text has this fingerprint. */
const NO_TEXT = '';

/** Marks of batches that are over go: what they tell is done once more, if it comes back. */
const WITHIN_MAX = 50;

const markWithin = (batch: BatchId, fingerprint: string): string => digest(`${batch} ${fingerprint}`).slice(0, 22);

/** What there is to do, and what was done by earlier jobs. */
export interface Plan {
  readonly merged: Merged;
  readonly batch: BatchId;
  readonly toDo: readonly MergedInput[];
  readonly skipped: readonly Skipped[];
}

/** An input that was done, and what was known of it. */
export interface Skipped extends MergedInput {
  readonly known: Known;
}

/** Leaves out inputs that were done already, as they are now or as a newer request had them. @param known by key */
export const skip = (merged: Merged, known: ReadonlyMap<InputKey, Known>, batch: BatchId): Plan => {
  const toDo: MergedInput[] = [];
  const skipped: Skipped[] = [];
  for (const [key, brought] of merged.inputs) {
    const before = known.get(key) ?? NOTHING_KNOWN;
    const latest = latestOf(brought);
    const { fingerprint, by, age } = latest;
    const isMarked = (text: string): boolean => before.marks.includes(markWithin(batch, text));
    // Of a batch that is called in parts, a newer request may bring a text again that another part superseded.
    const isWithin = isMarked(by) || (isMarked(fingerprint) && !isOlder(before.age, age));
    const others = brought.map((each) => each.fingerprint).filter((each) => each !== fingerprint);
    const superseded = [...new Set(others)];
    if (before.marks.includes(fingerprint) || isWithin) skipped.push({ ...latest, superseded, known: before });
    else if (isOlder(age, before.age)) {
      // Those that may be newer, since they have no version. Alone they would be done.
      const unclear = brought.filter((each) => !isOlder(each.age, before.age)).map((each) => each.by);
      skipped.push({ ...latest, superseded: unclear, known: before });
    } else toDo.push({ ...latest, superseded });
  }
  return { merged, batch, toDo, skipped };
};

/** Of requests that are equally new, or of unknown age, the last one's. */
const latestOf = (brought: readonly Brought[]): Brought =>
  brought.reduce((best, each) => (best.age && each.age && isNewer(best.age, each.age) ? best : each));

const NOTHING_KNOWN: Known = { marks: [] };

/**
 * Whether one request is older than another. Unknown where one of them has a version and the other has none: then its input is done,
 * since a producer that gave up versions would otherwise be ignored for as long as the key is kept.
 */
const isOlder = (age: SentWhen | undefined, than: SentWhen | undefined): boolean =>
  age !== undefined &&
  than !== undefined &&
  (age.version === undefined) === (than.version === undefined) &&
  isNewer({ ...than, id: NOBODY }, { ...age, id: NOBODY });

/** Of two that were sent at once neither is older. */
const NOBODY = '' as TaskId;
