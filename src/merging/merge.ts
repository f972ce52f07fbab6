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
export interface MergedInput extends Aged {
  /** Fingerprints of the texts that were not the latest. */
  readonly superseded: readonly string[];
}

/** What the requests of a call have in common. */
export interface Merged {
  /** Each key once, where it came first. */
  readonly inputs: ReadonlyMap<InputKey, MergedInput>;
  /** The keys that each request needs, each once. */
  readonly needs: ReadonlyMap<TaskId, readonly InputKey[]>;
  /** Requests whose inputs cannot be read. */
  readonly unreadable: ReadonlyMap<TaskId, TaskError>;
}

/** @param keys `merge.keys` of the operation, for requests that were registered before it merged */
export const merge = (items: readonly CallItem[], keys: string): Merged => {
  const texts = new Map<InputKey, Texts>();
  const needs = new Map<TaskId, readonly InputKey[]>();
  const unreadable = new Map<TaskId, TaskError>();
  for (const { id, payload, age, mergeKeys = keys } of items) {
    const found = inputsIn(mergeKeys, payload);
    if (found.ok) {
      // Of two with one key in one request the last is meant, as of two members of an object.
      const own = new Map(found.value.map((input) => [input.key, input]));
      for (const input of own.values()) add(texts, { ...input, age });
      needs.set(id, [...own.keys()]);
    } else unreadable.set(id, { code: 'inputs-unreadable', message: describeInBrief(found.problems), retriable: true });
  }
  const inputs = new Map(
    [...texts].map(([key, { latest, fingerprints }]) => {
      fingerprints.delete(latest.fingerprint);
      return [key, { ...latest, superseded: [...fingerprints] }];
    }),
  );
  return { inputs, needs, unreadable };
};

/** The texts that came for one key. */
interface Texts {
  readonly latest: Aged;
  readonly fingerprints: Set<string>;
}

/** An input, and the age of the request that brought it. */
interface Aged extends Input {
  readonly age: Age | undefined;
}

const add = (texts: Map<InputKey, Texts>, input: Aged): void => {
  const { latest, fingerprints } = texts.get(input.key) ?? { latest: input, fingerprints: new Set<string>() };
  fingerprints.add(input.fingerprint);
  const isLatest = latest.age !== undefined && input.age !== undefined && isNewer(latest.age, input.age);
  texts.set(input.key, { latest: isLatest ? latest : input, fingerprints });
};

/** What is known of a key that was done. */
export interface Known {
  /** The texts that it was done for, see {@link doneWith}. */
  readonly marks: readonly string[];
  /** Of the request whose text it was done with, where that is known. */
  readonly age?: Omit<Age, 'id'>;
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
export const doneBefore = ({ known, superseded }: Skipped, batch: BatchId): Known => {
  const [done = NO_TEXT, ...within] = known.marks;
  const inThisBatch = superseded.map((each) => markWithin(batch, each));
  return { ...known, marks: [done, ...new Set([...within, ...inThisBatch].slice(-WITHIN_MAX))] };
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
  const isDone = (input: MergedInput): boolean => {
    const { marks, age } = known.get(input.key) ?? NOTHING_KNOWN;
    const { fingerprint } = input;
    return marks.includes(fingerprint) || marks.includes(markWithin(batch, fingerprint)) || isOlder(input, age);
  };
  const inputs = [...merged.inputs.values()];
  return {
    merged,
    batch,
    toDo: inputs.filter((input) => !isDone(input)),
    skipped: inputs.filter(isDone).map((input) => ({ ...input, known: known.get(input.key) ?? NOTHING_KNOWN })),
  };
};

const NOTHING_KNOWN: Known = { marks: [] };

/**
 * Whether an input's request is older than the one for which its key was done. Unknown where one of them has a version and the other
 * has none: then the input is done, since a producer that gave up versions would otherwise be ignored for as long as the key is kept.
 */
const isOlder = ({ age }: MergedInput, done: Known['age']): boolean =>
  age !== undefined &&
  done !== undefined &&
  (age.version === undefined) === (done.version === undefined) &&
  isNewer({ ...done, id: age.id }, age);
