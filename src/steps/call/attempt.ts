/**
 * One attempt at a batch (H4). It calls the downstream for the open tasks, in one part or several, writes the results,
 * and returns the tasks that are still open. A refused part is halved, and the smaller part goes first, so that a bad
 * task is found with few calls.
 */

import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import {
  accepted,
  groupsOf,
  halvesOf,
  inParts,
  type Parts,
  partsOf,
  putOff,
  refused,
  toCall,
  withItems,
} from '../../domain/batches/bisect.ts';
import { callRecord, isFailure } from '../../domain/batches/call-record.ts';
import type { OpenTask } from '../../domain/batches/members.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import { type Answer, type Reason, reasonIn, traceparentOf, whyOf } from '../../domain/downstream/downstream.ts';
import { verdictOf } from '../../domain/downstream/verdict.ts';
import type { Millis } from '../../domain/ids.ts';
import { isLimited } from '../../domain/limits/limits.ts';
import { inJobs } from '../../domain/merging/jobs.ts';
import { HANDLER_OVERHEAD } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { CallDeps } from '../deps.ts';
import { newerForm, reportForeign } from './answers.ts';
import { countUsage, mayStart, takeNext } from './moments.ts';
import { hasEvidence } from './next-attempt.ts';
import { type Attempt, Collected, type PartEnd, type Rest, type Tally } from './tally.ts';

/**
 * The time that an invocation still has for another call, in ms. Half of the function's time beyond its calls is
 * reserved for writing results.
 */
export const spareTime = ({ downstream }: Operation, { timeLeft }: Invocation): Millis =>
  timeLeft() - downstream.timeout - HANDLER_OVERHEAD / 2;

/** The open items that an attempt includes in its calls, and the items whose job may still report. */
export const openFor = ({ batch, members }: Pick<Attempt, 'batch' | 'members'>, now: Millis) => {
  const waiting = new Set(batch.pending && batch.pending.until >= now ? batch.pending.ids : []);
  const pending = members.open.filter(({ id }) => waiting.has(id)).map(({ id }) => id);
  return { items: members.open.filter(({ id }) => !waiting.has(id)), pending };
};

export const callInParts = async (deps: CallDeps, run: Attempt, tally: Tally): Promise<Rest> => {
  const { items, pending } = openFor(run, deps.machine.now());
  const rest = new Collected(pending);
  let parts = toCall(firstParts(run, items));
  for (let [top] = parts; top; [top] = parts) {
    // The first call has a moment. If that has lapsed, it needs another one, as later calls do.
    const isReady = rest.isEmpty && (await mayStart(deps, run.grants));
    if (!isReady && !(await mayCall(deps, run, top.items)))
      return run.isIsolating ? rest.inParts(parts, OUT_OF_TIME) : rest.cut(parts, true);
    const end = await callForPart(deps, run, top.items, tally);
    const hasFailed = end.answer.kind === 'unavailable';
    rest.add(end, top.items.length, run.isIsolating && hasFailed);
    parts = toCall(after(withItems(parts, end.items), end));
    if (run.isIsolating && hasFailed)
      return rest.inParts(
        partsAfterFailure(parts, end, hasEvidence(run, tally, 2)),
        end,
        isFault(end.answer) ? end.items : [],
      );
    if (parts.length > 0 && end.answer.kind === 'unavailable' && !end.answer.mayRetryAtOnce)
      return rest.cut(parts, false);
  }
  return rest.whole();
};

const OUT_OF_TIME: Reason = { reason: 'no time was left for its call' };

/**
 * H8. The most parts before the first evidence that the downstream works. In an outage, more parts would only make more
 * calls when it ends.
 */
const MOST_UNPROVEN = 4;

/**
 * H8. The parts of the next attempt after a call of a part failed. The attempt ends with this call, because the
 * downstream may be restarting. The failed part goes to the end, in halves: the next attempt calls other tasks first,
 * whose success shows that the downstream works. Throttling is not the fault of a task.
 */
const partsAfterFailure = (parts: Parts<OpenTask>, { answer, items }: PartEnd, isProven: boolean): Parts<OpenTask> => {
  if (items.length === 0) return parts;
  if (!isFault(answer)) return [...partsOf([items]), ...parts];
  return [...parts, ...(isProven || parts.length + 1 < MOST_UNPROVEN ? halvesOf(items) : partsOf([items]))];
};

const isFault = (answer: Answer): boolean =>
  answer.kind === 'unavailable' && !answer.throttled && !answer.misconfigured && !answer.misread;

/**
 * The parts of a merging operation are jobs. If a job processes its inputs within the call, they are stored as done
 * before the next job begins. If a job reports later, its inputs are stored as done when the report arrives.
 */
const firstParts = (
  { batch, operation: { merge }, isIsolating }: Attempt,
  items: readonly OpenTask[],
): Parts<OpenTask> => {
  const parts = isIsolating ? isolatedParts(batch, items) : inParts(items, batch.split);
  return merge ? parts.flatMap((each) => partsOf(inJobs(each.items, merge.keys))) : parts;
};

/** The parts that the last attempt stored, without the items that have ended since. The first parts are two halves. */
const isolatedParts = ({ open = [], parts, split }: Batch, items: readonly OpenTask[]): Parts<OpenTask> => {
  const stored = parts ? groupsOf(open, parts) : [];
  const isStored = new Set(stored.flat());
  const others = items.filter(({ id }) => !isStored.has(id));
  const byId = new Map(items.map((item) => [item.id, item]));
  const groups = stored.map((ids) => ids.flatMap((id) => byId.get(id) ?? []));
  return [...partsOf(groups.filter(({ length }) => length > 0)), ...halvesOf(others)].flatMap((each) =>
    inParts(each.items, split),
  );
};

/** If a refused part has no open items left, the item at fault was found. */
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

/**
 * Calls the downstream for a part, and calls it again at once for the items that are still open, as often as the policy
 * and the time allow.
 */
const callForPart = async (
  deps: CallDeps,
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
    // Some items may have an outcome although the call was refused. If several items are left, it is unclear which of
    // them is at fault.
    const settled = answer.kind === 'refused' ? answer.settled : undefined;
    const suspects = suspect ? open.filter(({ id }) => !settled?.has(id)) : [];
    if (suspect && suspects.length > 1) {
      const results = verdict.results.filter(({ id }) => settled?.has(id));
      await tally.record(results, run.countedAttempts);
      return { is: 'refused', suspect, items: suspects, answer, wasAnswered, reason: '' };
    }
    await tally.record(verdict.results, run.countedAttempts);
    open = verdict.open;
    // A failed part is not called again at once, because other parts are called first (H8). A test is one call (O4).
    const isOneCall = run.isTest || (run.isIsolating && items.length > 1);
    const mayRepeat = answer.kind === 'unavailable' && answer.mayRetryAtOnce && !isOneCall;
    const isAtOnce = (answer.kind === 'results' && !verdict.throttled) || mayRepeat;
    if (open.length > 0 && isAtOnce && call < retry.immediate && (await mayCall(deps, run, open))) continue;
    const is = suspect ? 'refused' : answer.kind === 'unavailable' ? 'put-off' : 'accepted';
    const { throttled } = verdict;
    return {
      is,
      ...(suspect ? { suspect } : {}),
      answer,
      wasAnswered,
      ...whyOf(verdict),
      items: open,
      ...(throttled ? { throttled } : {}),
    };
  }
};

/** Whether there is time for another call under the operation's limits. If there is, this function sleeps until then. */
const mayCall = async (deps: CallDeps, run: Attempt, items: readonly OpenTask[]): Promise<boolean> => {
  const { operation, invocation } = run;
  const spare = spareTime(operation, invocation);
  if (spare < 0) return false;
  if (!isLimited(operation)) return true;
  const weight = items.reduce((sum, each) => sum + (each.weight ?? 1), 0);
  return (await takeNext(deps, run, weight, spare)) && spareTime(operation, invocation) >= 0;
};

/**
 * Whether this answer was given without a call, because nothing was left to do. Such an answer shows nothing about the
 * downstream.
 */
const isWithoutCall = (answer: Answer): boolean => answer.kind === 'results' && answer.withoutCall === true;

const callOnce = async (
  deps: CallDeps,
  { batch, attempt, asked, calls, calling }: Attempt,
  items: readonly OpenTask[],
): Promise<Answer> => {
  const { id: batchId, operation, target } = batch;
  const from = deps.machine.now();
  const answer = await deps.downstreamOf(operation).call({ batchId, operation, target, attempt, items });
  if (isWithoutCall(answer)) return answer;
  const weight = await countUsage(deps, batch, calling.grants, answer.usage);
  if (answer.kind === 'unavailable') asked.pause = Math.max(asked.pause, answer.retryAfter ?? 0);
  const { reason, ...quote } = reasonIn(answer);
  const took = deps.machine.now() - from;
  const ids = items.map(({ id }) => id);
  calls.push(callRecord({ attempt, at: from, took }, answer, ids, membersOf(batch)));
  deps.report({
    event: 'called',
    batchId,
    operation,
    attempt,
    items: items.length,
    took,
    answer: reason,
    isError: isFailure(answer),
    traceparent: traceparentOf({ batchId, attempt }),
    ...(weight === undefined ? {} : { weight }),
    ...quote,
  });
  if (answer.kind === 'results') reportForeign(deps.report, batchId, answer, ids);
  asked.form = newerForm(asked.form, answer);
  return answer;
};
