/**
 * A downstream that calls one job for many requests. A job gets each input only once, and does not get inputs that
 * earlier jobs have done.
 *
 * For each call, it reads which inputs are done, calls the job for the other inputs, and stores the keys that the job
 * reports as done. Only after that, the results of the requests are written. This order makes each crash harmless (J3):
 * - Crash before the keys are stored: the job is called again under the same idempotency key, as after any crash during
 *   a call.
 * - Crash while the keys are stored: each stored key was done. The next attempt calls the job for the other inputs.
 * - Crash after the keys are stored: the next attempt finds every input done, calls no job, and the requests succeed.
 *   Only the `result` that the job reported for them is lost.
 *
 * So no key is skipped unless it was done. If the results were written first, a crash could leave done keys that are
 * never stored, because no attempt handles requests that have ended.
 *
 * The order is also safe if an attempt was suspended and another attempt has begun: the keys that the suspended attempt
 * stores late were done too. If an input has changed meanwhile, a job gets its newer text.
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
 * Returns the answer for the requests of a job that reports later. It must be called before the results are written,
 * because it stores the keys that the job has done (J3).
 *
 * @param call the batch, with its open items and their payloads.
 * @param said what the job reported: `results`, inputs (`all-succeeded` with `inputs`), or that it is done.
 * @param hadOthers whether some requests of the job have ended since the call. The text with which an input was done
 *   may come from such a request, whose payload is deleted.
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
    // A skipped input also counts as done for the other requests with its key, because they may be retried without the
    // request that contained its text.
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
