/** A batch API that answers, in virtual time, whatever a real one might. */
import type { Millis, TaskId } from '../batching/ids.ts';
import { type Config, operationFor } from '../config/resolved.ts';
import type { Answer, Call, Downstream, ItemAnswer } from '../downstream/downstream.ts';
import type { Chaos } from './chaos.ts';
import { DOWNSTREAM_CALL } from './faults.ts';
import { type Gate, through } from './gate.ts';
import type { Random } from './random.ts';

/** A call that arrived. */
export interface LoggedCall {
  readonly call: Call;
  readonly at: Millis;
  /** Missing while it is under way, or if its caller did not hear the answer. */
  answered?: { readonly at: Millis; readonly answer: Answer };
}

/** What the downstream saw, for checks at the end. */
export interface CallLog {
  readonly calls: LoggedCall[];
  /** Tasks that somebody tried to call it about, whether or not it was reached. */
  readonly tried: Set<TaskId>;
}

/** Most calls are answered by then. */
const SOON: Millis = 3_000;

/** Calls take up to their operation's timeout; some would take longer, and have no answer then. */
export const simulatedDownstream = (
  { scheduler }: Chaos,
  random: Random,
  log: CallLog,
  gate: Gate,
  config: Config,
): Downstream => ({
  call: async (call) => {
    for (const { id } of call.items) log.tried.add(id);
    const logged: LoggedCall = { call, at: scheduler.now };
    try {
      await through(gate, DOWNSTREAM_CALL, () => log.calls.push(logged));
    } catch (cause) {
      // Like the real ones: what keeps an answer from arriving is an answer.
      return { kind: 'unavailable', reason: String(cause), mayRetryAtOnce: true };
    }
    const { timeout } = operationFor(config, call.operation).downstream;
    const took = random.chance(0.2) ? random.int(0, 2 * timeout) : random.int(0, Math.min(SOON, timeout));
    await scheduler.wait(Math.min(took, timeout));
    const answer = took > timeout ? noAnswer(timeout) : randomAnswer(random, call);
    logged.answered = { at: scheduler.now, answer };
    return answer;
  },
});

/** Like the real ones. Whether the work was done nobody knows. */
const noAnswer = (timeout: Millis): Answer => ({
  kind: 'unavailable',
  reason: `no answer within ${timeout} ms`,
  mayRetryAtOnce: true,
});

const randomAnswer = (random: Random, { items }: Call): Answer => {
  const kind = random.int(1, 10);
  if (kind <= 5) return { kind: 'all-succeeded' };
  if (kind === 6) return { kind: 'refused', reason: 'answered 400' };
  if (kind === 7) return { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true };
  if (kind === 8)
    return { kind: 'unavailable', reason: 'answered 429', retryAfter: random.int(0, 60_000), mayRetryAtOnce: false };
  const answers = new Map<TaskId, ItemAnswer>();
  for (const { id } of items) if (random.chance(0.9)) answers.set(id, randomItem(random.int(1, 4)));
  return { kind: 'results', items: answers, foreign: random.int(0, 1) };
};

const randomItem = (kind: number): ItemAnswer => {
  if (kind === 1) return { status: 'retry', reason: 'busy' };
  if (kind === 2) return { status: 'failed', error: { code: 'bad', message: 'no such parcel', retriable: false } };
  return { status: 'succeeded', result: '{"ok":true}' };
};
