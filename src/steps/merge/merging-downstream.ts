/**
 * A downstream whose calls are jobs for many requests at once: it gets their inputs, each once, without those that
 * earlier jobs have done.
 *
 * What a job has done is remembered after it said so, and before the requests get their results. Why in this order:
 * - A crash before anything is remembered: the job was done and nobody knows. It is asked to do it again, under the same
 *   idempotency key, as after a crash of any call.
 * - A crash amid remembering: what is remembered was done; the next attempt asks for the rest.
 * - A crash afterwards: the next attempt finds nothing left to do, starts no job, and the requests succeed. (What the job
 *   said of them beyond that, their `result`, is lost with the crash.)
 * So a key is never skipped that was not done. Results first would be as safe, but a crash between the two would leave
 * keys that nobody remembers any more: their requests are over, and no attempt comes back to them.
 *
 * The same for an attempt that was overtaken while it stood still: what it remembers late was done too. Where the input
 * had changed meanwhile, the newer text is done once more.
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
  /** How long it is remembered what was done. */
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
    const answer = plan.toDo.length > 0 ? await inner.call(mergedCall(call, plan)) : NOBODY_CALLED;
    if (answer.kind !== 'refused' && answer.kind !== 'unavailable') report(mergedEvent(call, plan));
    return concluded(merging, call, plan, answer);
  },
  reported: (call, said, others) => completedRequests(merging, call, said, others),
});

/**
 * The answer for the requests of a job that reported later. To be asked before their results are written, as above: what
 * the job has done is remembered here.
 *
 * @param call the batch, with those of its items that are open, and their payloads
 * @param said what the job reported: by `results`, by inputs (`all-succeeded` with `inputs`), or that it is done
 * @param hadOthers whether the job had requests that have ended since. One of them may have brought the text with which an
 *   input was done, and their payloads are gone.
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

const NOBODY_CALLED: Answer = { kind: 'results', items: new Map(), foreign: 0, withoutCall: true };

/** About the requests that need it. */
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
    // One that was skipped is done for the other requests of its key too: they may be tried again alone.
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
