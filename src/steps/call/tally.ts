/**
 * The results of an attempt. `Tally` writes the results of members and counts the outcomes that the tasks then have.
 * The first result of a task stands, even if another function wrote it. `Tally` also notifies for the tasks that ended,
 * before the batch is postponed or finished. `Collected` collects the tasks that the parts leave open.
 */

import type { Batch, Counts } from '../../domain/batches/batch.ts';
import type { Parts } from '../../domain/batches/bisect.ts';
import type { CallRecord } from '../../domain/batches/call-record.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { EndedMember, Member, Members, OpenTask } from '../../domain/batches/members.ts';
import { destinationOf } from '../../domain/callbacks/callback.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import { type Answer, type Reason, type Suspect, whyOf } from '../../domain/downstream/downstream.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import type { Grant } from '../../domain/limits/bucket.ts';
import type { AnswerForm, OperationState } from '../../domain/operations/slots.ts';
import type { TaskResult } from '../../domain/tasks/task.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { CallDeps } from '../deps.ts';
import { ackEnded, callBack } from '../tasks/notify.ts';

export interface Attempt {
  /** The batch as it was before the attempt. */
  readonly batch: Batch;
  readonly operation: Operation;
  readonly members: Members;
  /** The operation's row as it was before the attempt. */
  readonly state: OperationState;
  /** The Target's lock as it was before the attempt. */
  readonly lock: Lock;
  readonly attempt: number;
  readonly countedAttempts: number;
  /** Whether the open members are called in parts, to isolate the tasks at fault (H8). */
  readonly isIsolating: boolean;
  /** Whether the circuit was half-open when the attempt began, so that the attempt tests the downstream (O4). */
  readonly isTest: boolean;
  /** The moments of its first call under the operation's limits. */
  readonly grants: readonly Grant[];
  /** Those of earlier attempts whose jobs may still report. */
  readonly jobGrants: readonly Grant[];
  /** The moments of the call that is made now. A later call of the attempt takes its own. */
  readonly calling: { grants: readonly Grant[] };
  readonly invocation: Invocation;
  /** The calls of this attempt so far. */
  readonly calls: CallRecord[];
  /** The longest pause that the downstream has asked for so far, and whether its answers name results. */
  readonly asked: { pause: Millis; form?: AnswerForm | undefined };
}

/** Items that are still open, and why. */
export interface Left extends Reason {
  readonly items: readonly OpenTask[];
  /** The items that the last call throttled one by one. Absent if there are none. */
  readonly throttled?: ReadonlySet<TaskId>;
}

/**
 * Why every call of an attempt failed: the downstream failed (`failed`), its answers cannot be read (`misread`), the
 * configuration must be fixed first (`misconfigured`), or the downstream works but there were too many calls
 * (`throttled`).
 */
export interface Failure extends Reason {
  readonly is: 'failed' | 'misread' | 'misconfigured' | 'throttled';
}

/** What an attempt leaves open. */
export interface Rest {
  readonly left: readonly Left[];
  /** Items that the downstream reports later, including those from earlier attempts. */
  readonly pending: readonly TaskId[];
  readonly hasTaken: boolean;
  /**
   * Set if the attempt ended before all parts were called. `split` is the size of the smallest part left, and `isLate`
   * means that the time was over.
   */
  readonly cut?: { readonly split: number; readonly isLate: boolean };
  /** Set if a call or its answer was too large: the largest number of open items in one part of the next attempt. */
  readonly split?: number;
  /** The sizes of the parts of the next attempt, in the order of `left`, if tasks at fault are being isolated. */
  readonly parts?: readonly number[];
  /** The item whose call failed, if it was alone in its part. */
  readonly failedAlone?: TaskId;
  /** Set if every call failed. */
  readonly failure?: Failure;
  /** Whether at least one call did not fail. */
  readonly wasAnswered: boolean;
}

/** The result of a part. */
export interface PartEnd extends Left {
  readonly is: 'accepted' | 'refused' | 'put-off';
  readonly suspect?: Suspect;
  /** The answer to the last call for this part. */
  readonly answer: Answer;
  /** Whether an answer for this part shows that the downstream works. */
  readonly wasAnswered: boolean;
}

/**
 * Number of tasks that are read at once to send their callbacks. The number is limited because each task may have a
 * result of 256 KB.
 */
const CALLBACKS_AT_ONCE = 100;

export class Tally {
  readonly #deps: CallDeps;
  readonly #batch: Batch;
  readonly #operation: Operation;
  readonly #members: ReadonlyMap<TaskId, Member>;
  readonly #ended: EndedMember[];
  #counts: Counts;

  /** @param members the members as loaded: those that had no result when the last attempt ended. */
  constructor(deps: CallDeps, batch: Batch, operation: Operation, members: Members) {
    this.#deps = deps;
    this.#batch = batch;
    this.#operation = operation;
    this.#members = new Map([...members.open, ...members.lost].map((member) => [member.id, member]));
    this.#ended = [...members.ended];
    this.#counts = batch.open || batch.pending ? plus(batch.counts, members.counts) : members.counts;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /**
   * Writes results.
   * @param countedAttempts the number of counted attempts so far.
   */
  async record(results: readonly TaskResult[], countedAttempts: number): Promise<void> {
    if (results.length === 0) return;
    const { tasks, machine } = this.#deps;
    const written = await tasks.finish(results, {
      id: this.#batch.id,
      target: this.#batch.target,
      attempts: Math.min(countedAttempts, this.#operation.retry.maxAttempts),
      at: machine.now(),
      keep: this.#operation.keepTasks,
    });
    for (const [index, status] of written.entries()) {
      const member = this.#members.get((results[index] as TaskResult).id);
      if (!status || !member) continue;
      this.#counts = { ...this.#counts, [status]: this.#counts[status] + 1 };
      this.#ended.push({ ...member, status });
    }
  }

  /**
   * N3. Notifies for every ended member. This includes members that another invocation ended, because that invocation
   * may have died before it notified. Fan-out items are acked first and all at once, from the outcomes in the members.
   * Tasks are read only if they have a callback.
   */
  async notifyEnded(): Promise<void> {
    await ackEnded(this.#deps, this.#ended);
    const ids = this.#ended
      .filter(({ callback, status }) => destinationOf(this.#operation, callback, status) !== undefined)
      .map(({ id }) => id);
    for (let from = 0; from < ids.length; from += CALLBACKS_AT_ONCE)
      await callBack(this.#deps, await this.#deps.tasks.all(ids.slice(from, from + CALLBACKS_AT_ONCE)));
  }
}

const plus = (a: Counts | undefined, b: Counts): Counts => ({
  succeeded: (a?.succeeded ?? 0) + b.succeeded,
  failed: (a?.failed ?? 0) + b.failed,
});

const kindOf = (answers: readonly Extract<Answer, { kind: 'unavailable' }>[]): Failure['is'] => {
  if (answers.some(({ misconfigured }) => misconfigured)) return 'misconfigured';
  if (answers.every(({ throttled }) => throttled)) return 'throttled';
  return answers.some(({ misread }) => misread) ? 'misread' : 'failed';
};

/** Collects what the parts leave open. */
export class Collected {
  readonly #left: Left[] = [];
  readonly #pending: TaskId[];
  readonly #ends: PartEnd[] = [];
  #smallest = Number.POSITIVE_INFINITY;
  /** The size of the smallest part that left items open. */
  #smallestLeft = Number.POSITIVE_INFINITY;
  /** Half of the smallest call that was too large, or whose answer was. */
  #halved = Number.POSITIVE_INFINITY;

  constructor(pending: readonly TaskId[]) {
    this.#pending = [...pending];
  }

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  /** @param isCalledAgain whether the caller keeps the part's open items for the next attempt. */
  add(end: PartEnd, size: number, isCalledAgain = false): void {
    this.#ends.push(end);
    const wasTooLarge = end.suspect === 'its-size' || end.suspect === 'its-answer';
    if (wasTooLarge && size > 1) this.#halved = Math.min(this.#halved, Math.ceil(size / 2));
    // A refused part leaves nothing here: it is halved, and each half is added later as a part.
    if (end.is === 'refused' || isCalledAgain) return;
    if (end.items.length > 0) this.#smallestLeft = Math.min(this.#smallestLeft, size);
    if (end.is === 'put-off') this.#smallest = Math.min(this.#smallest, size);
    if (end.answer.kind === 'pending') this.#pending.push(...end.items.map(({ id }) => id));
    else if (end.items.length > 0) {
      const { items, throttled } = end;
      this.#left.push({ ...whyOf(end), items, ...(throttled ? { throttled } : {}) });
    }
  }

  cut(parts: Parts<OpenTask>, isLate: boolean): Rest {
    const split = Math.min(this.#smallest, ...parts.map(({ items }) => items.length));
    const reason = this.#left.at(-1) ?? { reason: 'no time was left for its call' };
    const left = [...this.#left, ...parts.map(({ items }) => ({ ...whyOf(reason), items }))];
    return { ...this.whole(), left, cut: { split, isLate } };
  }

  /**
   * Ends an attempt that isolates tasks at fault.
   *
   * @param parts the parts that were not called, or that failed.
   * @param failed the items of the part that failed.
   */
  inParts(parts: Parts<OpenTask>, reason: Reason, failed: readonly OpenTask[] = []): Rest {
    const left = [...this.#left, ...parts.map(({ items }) => ({ ...whyOf(reason), items }))];
    const [alone, other] = failed;
    return {
      ...this.whole(),
      left,
      parts: left.map(({ items }) => items.length),
      // A later attempt may call the batch whole again, but not in larger parts than these.
      ...(Number.isFinite(this.#halved) ? { split: this.#halved } : {}),
      ...(alone && !other ? { failedAlone: alone.id } : {}),
    };
  }

  whole(): Rest {
    const answers = this.#ends.map(({ answer }) => answer);
    const unavailable = answers.filter((answer) => answer.kind === 'unavailable');
    const wasAnswered = this.#ends.some((end) => end.wasAnswered);
    const last = unavailable.at(-1);
    return {
      left: this.#left,
      pending: this.#pending,
      hasTaken: answers.some(({ kind }) => kind === 'pending'),
      ...(last && !wasAnswered ? { failure: { ...whyOf(last), is: kindOf(unavailable) } } : {}),
      ...(Number.isFinite(this.#halved) && Number.isFinite(this.#smallestLeft) ? { split: this.#smallestLeft } : {}),
      wasAnswered,
    };
  }
}
