/**
 * Many requests, one job: which inputs it has to do, and which request needs which of them.
 *
 * Where two requests bring different texts for one key, the job gets the later one's, in the order in which they waited:
 * an input that changed is wanted as it is now. With that the earlier request has what it asked for too.
 */
import { type BatchId, digest, type TaskId } from '../batching/ids.ts';
import { describeInBrief } from '../batching/problems.ts';
import type { TaskError } from '../batching/task.ts';
import type { CallItem } from '../downstream/downstream.ts';
import { type Input, type InputKey, inputsIn } from './inputs.ts';

/** An input of the union: one request's text stands for all of them. */
export interface MergedInput extends Input {
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

/** @param keys `merge.keys` */
export const merge = (items: readonly CallItem[], keys: string): Merged => {
  const versions = new Map<InputKey, Versions>();
  const needs = new Map<TaskId, readonly InputKey[]>();
  const unreadable = new Map<TaskId, TaskError>();
  for (const { id, payload } of items) {
    const found = inputsIn(keys, payload);
    if (found.ok) {
      // Of two with one key in one request the last is meant, as of two members of an object.
      const own = new Map(found.value.map((input) => [input.key, input]));
      for (const input of own.values()) add(versions, input);
      needs.set(id, [...own.keys()]);
    } else
      unreadable.set(id, { code: 'inputs-unreadable', message: describeInBrief(found.problems), retriable: false });
  }
  const inputs = new Map(
    [...versions].map(([key, { latest, fingerprints }]) => {
      fingerprints.delete(latest.fingerprint);
      return [key, { ...latest, superseded: [...fingerprints] }];
    }),
  );
  return { inputs, needs, unreadable };
};

/** The texts that came for one key. */
interface Versions {
  latest: Input;
  readonly fingerprints: Set<string>;
}

const add = (versions: Map<InputKey, Versions>, input: Input): void => {
  const known = versions.get(input.key) ?? { latest: input, fingerprints: new Set<string>() };
  known.latest = input;
  known.fingerprints.add(input.fingerprint);
  versions.set(input.key, known);
};

/** What is known of a key that was done: which texts it was done for, see {@link marksOf}. */
export type Marks = readonly string[];

/**
 * How it is remembered that an input was done: by its fingerprint, and for those that it superseded by theirs, which count
 * in this batch alone. A request of it that is tried again must not bring an older text back; a later one means what it says.
 */
export const marksOf = ({ fingerprint, superseded }: MergedInput, batch: BatchId): Marks => [
  fingerprint,
  ...superseded.map((each) => markWithin(batch, each)),
];

/**
 * How it is remembered that an input which was skipped superseded others: beside what was known of it. Its own fingerprint may not be
 * there: it may itself have been superseded in this batch, and not done as it is.
 */
export const marksOfSkipped = ({ known: [done = NO_TEXT, ...within], superseded }: Skipped, batch: BatchId): Marks => [
  done,
  ...new Set([...within, ...superseded.map((each) => markWithin(batch, each))].slice(-WITHIN_MAX)),
];

/**
 * How it is remembered that an input was done with a text that nobody knows any more: one of this batch. A request of it that is
 * tried again has what it asked for; one of another batch is done once more.
 */
export const marksWithin = ({ fingerprint, superseded }: MergedInput, batch: BatchId): Marks => [
  NO_TEXT,
  ...[fingerprint, ...superseded].map((each) => markWithin(batch, each)),
];

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
  readonly known: Marks;
}

/** Leaves out inputs that were done already, as they are now. @param known marks by key */
export const skip = (merged: Merged, known: ReadonlyMap<InputKey, Marks>, batch: BatchId): Plan => {
  const isDone = ({ key, fingerprint }: MergedInput): boolean => {
    const marks = known.get(key) ?? [];
    return marks.includes(fingerprint) || marks.includes(markWithin(batch, fingerprint));
  };
  const inputs = [...merged.inputs.values()];
  return {
    merged,
    batch,
    toDo: inputs.filter((input) => !isDone(input)),
    skipped: inputs.filter(isDone).map((input) => ({ ...input, known: known.get(input.key) ?? [] })),
  };
};
