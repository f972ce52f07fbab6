/**
 * A downstream whose calls are jobs for many requests at once. A job gets each input once, without the inputs that
 * earlier jobs have done.
 *
 * For each call: read which inputs are done, call for the others, store the keys that the job reports as done, and only
 * then let the requests get their results. This order makes each crash harmless (J3):
 * - Before the keys are stored: the job is called again under the same idempotency key, as after a crash of any call.
 * - While the keys are stored: each stored key was done. The next attempt calls for the rest.
 * - After that: the next attempt finds every input done, calls no job, and the requests succeed. Only the `result` that
 *   the job reported for them is lost.
 *
 * So no key is skipped unless it was done. If the results were written first, a crash could leave done keys that are
 * never stored, because no attempt comes back to requests that have ended.
 *
 * The order also suits an attempt that was overtaken while it was suspended: the keys that it stores late were done
 * too. If an input has changed meanwhile, its newer text is done once more.
 */

import type { Answer, Call, Downstream } from '../../domain/downstream/downstream.ts';
import type { Millis } from '../../domain/ids.ts';
import { perRequest, settledBy } from '../../domain/merging/answers.ts';
import { doneBefore, doneSomehow, doneWith, merge, type Plan, skip } from '../../domain/merging/merge.ts';
import type { Machine, Report } from '../../ports/machine.ts';
import type { ProcessedKeys } from '../../ports/processed.ts';

export interface Merging {
  /** `merge.keys` of the operation. */
  readonly keys: string;
  /** How long done keys are stored. */
  readonly keepTasks: Millis;
  readonly processed: ProcessedKeys;
  readonly machine: Pick<Machine, 'now'>;
}

export const mergingDownstream = (
  inner: Downstream,
  { report, ...merging }: Merging & { readonly report: Report },
): Required<Downstream> => ({
  call: async (call) => {
    const plan = await planOf(merging, call);
    const answer = plan.toDo.length > 0 ? await inner.call(mergedCall(call, plan)) : NO_CALL_NEEDED;
    if (answer.kind !== 'refused' && answer.kind !== 'unavailable') report(mergedEvent(call, plan));
    return concluded(merging, call, plan, answer);
  },
  reported: (call, said, others) => completedRequests(merging, call, said, others),
});

/**
 * The answer for the requests of a job that reports later. Call this before the results are written: it stores the keys
 * that the job has done (J3).
 *
 * @param call the batch, with those of its items that are open, and their payloads.
 * @param said what the job reported: `results`, inputs (`all-succeeded` with `inputs`), or that it is done.
 * @param hadOthers whether the job had requests that have ended since. One of them may have brought the text with which
 * an input was done, and its payload is gone.
 */
export const completedRequests = async (
  merging: Merging,
  call: MergingCall,
  said: Answer,
  hadOthers: boolean,
): Promise<Answer> => concluded(merging, call, await planOf(merging, call), said, hadOthers ? doneSomehow : doneWith);

type MergingCall = Pick<Call, 'batchId' | 'target' | 'items'>;

const planOf = async (
  { keys, processed, machine }: Merging,
  { batchId, target, items }: MergingCall,
): Promise<Plan> => {
  const merged = merge(items, keys);
  const needed = [...merged.inputs.keys()];
  const known = needed.length > 0 ? await processed.known(target, needed, machine.now()) : new Map();
  return skip(merged, known, batchId);
};

const NO_CALL_NEEDED: Answer = { kind: 'results', items: new Map(), foreign: 0, withoutCall: true };

/** The call with only the requests that need it. */
const mergedCall = (call: Call, plan: Plan): Call => {
  const settled = settledBy(plan);
  return {
    ...call,
    items: call.items.filter(({ id }) => !settled.has(id)),
    inputs: plan.toDo.map(({ text }) => text),
  };
};

const concluded = async (
  { processed, machine, keepTasks }: Merging,
  { batchId, target }: MergingCall,
  plan: Plan,
  said: Answer,
  rememberAs: typeof doneWith = doneWith,
): Promise<Answer> => {
  const { answer, done } = perRequest(plan, said);
  const remembered = [
    ...done.map((input) => ({ key: input.key, ...rememberAs(input, batchId) })),
    // A skipped input is done for the other requests of its key too. They may be retried without the request that did
    // it.
    ...plan.skipped.flatMap((input) => {
      const known = doneBefore(input, batchId);
      return known ? [{ key: input.key, ...known }] : [];
    }),
  ];
  if (remembered.length > 0) await processed.remember(target, remembered, machine.now(), keepTasks);
  return answer;
};

const mergedEvent = ({ operation, target, items }: Call, { merged, toDo, skipped }: Plan) =>
  ({
    event: 'merged',
    operation,
    target,
    requests: items.length,
    inputs: merged.inputs.size,
    skipped: skipped.length,
    called: toDo.length > 0,
  }) as const;
