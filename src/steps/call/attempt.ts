/**
 * One attempt at a batch (H4): calls downstream about what is open, in one part or in several, gives those a result that
 * have one, and says what is left.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import {
  accepted,
  inParts,
  type Parts,
  partsOf,
  putOff,
  refused,
  toCall,
  withItems,
} from '../../domain/batches/bisect.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import { type Answer, type Reason, type Suspect, whyOf } from '../../domain/downstream/downstream.ts';
import { traceparentOf } from '../../domain/downstream/trace.ts';
import { verdictOf } from '../../domain/downstream/verdict.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import { inJobs } from '../../domain/merging/jobs.ts';
import { MOST_AHEAD } from '../../domain/operations/call-rate.ts';
import type { OperationState } from '../../domain/operations/slots.ts';
import { HANDLER_OVERHEAD } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { Members, OpenTask } from '../../ports/tasks.ts';
import type { Deps } from '../deps.ts';
import { reserveCall } from './reserve-call.ts';
import type { Tally } from './tally.ts';

export type AttemptDeps = Pick<
  Deps,
  | 'config'
  | 'tasks'
  | 'waiting'
  | 'locks'
  | 'batches'
  | 'operations'
  | 'fanOuts'
  | 'queues'
  | 'machine'
  | 'report'
  | 'downstreamOf'
>;

export interface Attempt {
  /** As it was before the attempt. */
  readonly batch: Batch;
  readonly operation: Operation;
  readonly members: Members;
  /** The operation's row as it was before the attempt. */
  readonly state: OperationState;
  readonly attempt: number;
  readonly tries: number;
  readonly invocation: Invocation;
  /** The longest pause that the downstream has asked for until now. */
  readonly asked: { pause: Millis };
}

/** Items that are still open, and why. */
export interface Left extends Reason {
  readonly items: readonly OpenTask[];
}

/**
 * Why every call of an attempt came to nothing: the downstream failed; nothing will be taken before the configuration has
 * been mended; or the downstream works, and there were too many calls.
 */
export interface Failure extends Reason {
  readonly is: 'failed' | 'misconfigured' | 'throttled';
}

/** What an attempt leaves. */
export interface Rest {
  readonly left: readonly Left[];
  /** Of these the downstream reports later: those that it had before, and those that it has taken now. */
  readonly pending: readonly TaskId[];
  readonly hasTaken: boolean;
  /** It ended before all parts were called about: the smallest size of those that are left, and whether time was short. */
  readonly cut?: { readonly split: number; readonly isLate: boolean };
  /** A call, or its answer, was too large: what is left is called about in parts of at most so many items. */
  readonly split?: number;
  /** Every call came to nothing. */
  readonly failure?: Failure;
  /** At least one call did not. */
  readonly wasAnswered: boolean;
}

/** Half of what is not for calls has to be left for the results. */
export const spareTime = ({ downstream }: Operation, { timeLeft }: Invocation): Millis =>
  timeLeft() - downstream.timeout - HANDLER_OVERHEAD / 2;

/** The open items that an attempt calls about, and those that stay with their job, which has some time to go. */
export const openFor = ({ batch, members }: Pick<Attempt, 'batch' | 'members'>, now: Millis) => {
  const waiting = new Set(batch.pending && batch.pending.until >= now ? batch.pending.ids : []);
  const pending = members.open.filter(({ id }) => waiting.has(id)).map(({ id }) => id);
  return { items: members.open.filter(({ id }) => !waiting.has(id)), pending };
};

export const callInParts = async (deps: AttemptDeps, run: Attempt, tally: Tally): Promise<Rest> => {
  const { items, pending } = openFor(run, deps.machine.now());
  const rest = new Collected(pending);
  let parts = toCall(firstParts(run, items));
  for (let [top] = parts; top; [top] = parts) {
    const isFirst = rest.isEmpty;
    if (!isFirst && !(await mayCall(deps, run))) return rest.cut(parts, true);
    const end = await callAbout(deps, run, top.items, tally);
    rest.add(end, top.items.length);
    parts = toCall(after(withItems(parts, end.items), end));
    if (parts.length > 0 && 'mayRetryAtOnce' in end.answer && !end.answer.mayRetryAtOnce) return rest.cut(parts, false);
  }
  return rest.whole();
};

/**
 * The parts of a merging operation are jobs. A job that answers at once has its inputs remembered before the next one begins; one that
 * reports later has not.
 */
const firstParts = (
  { batch: { split }, operation: { merge } }: Attempt,
  items: readonly OpenTask[],
): Parts<OpenTask> => {
  const parts = inParts(items, split);
  return merge ? parts.flatMap((each) => partsOf(inJobs(each.items, merge.keys))) : parts;
};

/** A part that was refused and has nothing left found what was at fault. */
const after = (parts: Parts<OpenTask>, { is, items, suspect = 'an-item' }: PartEnd): Parts<OpenTask> => {
  switch (is) {
    case 'accepted':
      return accepted(parts);
    case 'refused':
      return items.length > 0 ? refused(parts, suspect) : putOff(parts);
    case 'put-off':
      return putOff(parts);
  }
};

/** What became of a part. */
interface PartEnd extends Left {
  readonly is: 'accepted' | 'refused' | 'put-off';
  readonly suspect?: Suspect;
  /** The last one about it. */
  readonly answer: Answer;
  /** Whether that one, or one before it, shows that the downstream works. */
  readonly wasAnswered: boolean;
}

/** Calls about a part, and at once again with what is still open of it, as often as the policy and the time allow. */
const callAbout = async (
  deps: AttemptDeps,
  run: Attempt,
  items: readonly OpenTask[],
  tally: Tally,
): Promise<PartEnd> => {
  const { retry } = run.operation;
  let open = items;
  let wasAnswered = false;
  for (let call = 0; ; call += 1) {
    const answer = await callOnce(deps, run, open);
    wasAnswered ||= answer.kind !== 'unavailable' && !isWithoutCall(answer);
    const suspect = answer.kind === 'refused' && retry.bisect ? answer.suspect : undefined;
    const verdict = verdictOf(answer, open);
    // Some may have an outcome whatever became of the call; of several others nobody knows which of them is at fault.
    const settled = 'settled' in answer ? answer.settled : undefined;
    const suspects = suspect ? open.filter(({ id }) => !settled?.has(id)) : [];
    if (suspect && suspects.length > 1) {
      const results = verdict.results.filter(({ id }) => settled?.has(id));
      await tally.record(results, run.tries);
      return { is: 'refused', suspect, items: suspects, answer, wasAnswered, reason: '' };
    }
    await tally.record(verdict.results, run.tries);
    open = verdict.open;
    const isAtOnce = answer.kind === 'results' || (answer.kind === 'unavailable' && answer.mayRetryAtOnce);
    if (open.length > 0 && isAtOnce && call < retry.immediate && (await mayCall(deps, run))) continue;
    const is = suspect ? 'refused' : answer.kind === 'unavailable' ? 'put-off' : 'accepted';
    return { is, ...(suspect ? { suspect } : {}), answer, wasAnswered, ...whyOf(verdict), items: open };
  }
};

/** Whether there is time for another call, under the operation's rate; sleeps until its moment. */
const mayCall = async (deps: AttemptDeps, { operation, batch, invocation }: Attempt): Promise<boolean> => {
  const { machine } = deps;
  const spare = spareTime(operation, invocation);
  if (spare < 0) return false;
  if (operation.rateLimit === null) return true;
  const latest = machine.now() + Math.min(spare, MOST_AHEAD);
  const { line } = await deps.operations.read(batch.operation);
  const asked = { operation: batch.operation, rate: operation.rateLimit, keepsLine: true, latest };
  const reserved = await reserveCall(deps, asked, line, invocation);
  if (!reserved) return false;
  // To reserve it may have taken seconds, where DynamoDB throttles.
  const wait = reserved.at - machine.now();
  if (wait > 0) await machine.sleep(wait);
  return spareTime(operation, invocation) >= 0;
};

/** Nothing was left to be done: it says nothing of the downstream. */
const isWithoutCall = (answer: Answer): boolean => answer.kind === 'results' && answer.withoutCall === true;

const callOnce = async (
  deps: AttemptDeps,
  { batch, attempt, asked }: Attempt,
  items: readonly OpenTask[],
): Promise<Answer> => {
  const { id: batchId, operation, target } = batch;
  const from = deps.machine.now();
  const answer = await deps.downstreamOf(operation).call({ batchId, operation, target, attempt, items });
  if (isWithoutCall(answer)) return answer;
  if (answer.kind === 'unavailable') asked.pause = Math.max(asked.pause, answer.retryAfter ?? 0);
  const { reason: said, ...quote } = 'reason' in answer ? whyOf(answer) : { reason: answer.kind };
  deps.report({
    event: 'called',
    batchId,
    operation,
    attempt,
    items: items.length,
    took: deps.machine.now() - from,
    answer: said,
    isError: answer.kind === 'refused' || answer.kind === 'unavailable',
    traceparent: traceparentOf({ batchId, attempt }),
    ...quote,
  });
  if (answer.kind === 'results' && answer.foreign > 0)
    deps.report({ event: 'foreign-results', batchId, items: answer.foreign });
  return answer;
};

const kindOf = (answers: readonly Extract<Answer, { kind: 'unavailable' }>[]): Failure['is'] => {
  if (answers.some(({ misconfigured }) => misconfigured)) return 'misconfigured';
  return answers.every(({ throttled }) => throttled) ? 'throttled' : 'failed';
};

/** Gathers what the parts leave. */
class Collected {
  readonly #left: Left[] = [];
  readonly #pending: TaskId[];
  readonly #ends: PartEnd[] = [];
  #smallest = Number.POSITIVE_INFINITY;
  /** Of parts that leave something. */
  #smallestLeft = Number.POSITIVE_INFINITY;
  #wasTooLarge = false;

  constructor(pending: readonly TaskId[]) {
    this.#pending = [...pending];
  }

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  add(end: PartEnd, size: number): void {
    this.#ends.push(end);
    this.#wasTooLarge ||= end.suspect === 'its-size' || end.suspect === 'its-answer';
    // Its halves are parts of their own.
    if (end.is === 'refused') return;
    if (end.items.length > 0) this.#smallestLeft = Math.min(this.#smallestLeft, size);
    if (end.is === 'put-off') this.#smallest = Math.min(this.#smallest, size);
    if (end.answer.kind === 'pending') this.#pending.push(...end.items.map(({ id }) => id));
    else if (end.items.length > 0) this.#left.push({ ...whyOf(end), items: end.items });
  }

  cut(parts: Parts<OpenTask>, isLate: boolean): Rest {
    const split = Math.min(this.#smallest, ...parts.map(({ items }) => items.length));
    const reason = this.#left.at(-1) ?? { reason: 'there was no time left to call about it' };
    const left = [...this.#left, ...parts.map(({ items }) => ({ ...whyOf(reason), items }))];
    return { ...this.whole(), left, cut: { split, isLate } };
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
      ...(this.#wasTooLarge && Number.isFinite(this.#smallestLeft) ? { split: this.#smallestLeft } : {}),
      wasAnswered,
    };
  }
}
