/**
 * Hold a batch while its operation or Target is paused. Each minute, for months if need be, its message has the batch function look
 * whether the pause is over. Each look sends the message for the next one. So it is while a batch waits for a slot, or in line for its
 * operation's rate.
 *
 * SQS may deliver a message twice, or deliver it again because its function died after it had sent the next one. Then both
 * deliveries send a message, and each of these is looked at from then on: with one such repetition in a thousand looks, one
 * message becomes 20,000 within a week. So once in each span of 15 minutes a message notes itself in the batch's row before the
 * next one is sent, and ends if another message did so before. The message that is noted cannot get lost by that: if its function
 * dies, SQS delivers it again, and its own note does not stop it.
 *
 * A message that says that an attempt does not count ends only for another one that says so: it takes the place of any other note.
 */
import type { Operation } from '../config/resolved.ts';
import type { Batch, Held } from './batch.ts';
import { delayPast } from './delay.ts';
import type { Deps } from './deps.ts';
import { lookAgain } from './end-attempt.ts';
import type { Millis } from './ids.ts';
import { again, type DueMessage } from './messages.ts';
import type { Pause } from './slots.ts';
import { MINUTE } from './timings.ts';
import type { Next } from './turns.ts';

type HoldDeps = Pick<Deps, 'batches' | 'queues' | 'machine' | 'report'>;

/** Each costs a write of the batch's row. */
const SPAN: Millis = 15 * MINUTE;

/** The batch waits as it is: no attempt begins. */
export const hold = async (
  deps: HoldDeps,
  message: DueMessage,
  { id: batchId, operation: name }: Batch,
  operation: Operation,
  { by, until }: Pause,
): Promise<Next> => {
  const { queues, machine, report } = deps;
  const now = machine.now();
  const next = await nextLook(deps, message);
  if (!next) return 'end';
  await queues.batch(next, delayPast(lookAgain(operation, until, now, machine.random()), now));
  report({ event: 'held', batchId, operation: name, by, ...(until === undefined ? {} : { until }) });
  return 'end';
};

/** The message for the next look; undefined where another one goes on. */
export const nextLook = async (
  deps: Pick<Deps, 'batches' | 'machine'>,
  message: DueMessage,
): Promise<DueMessage | undefined> => {
  const { machine } = deps;
  const span = Math.floor(machine.now() / SPAN);
  if (!(await goesOn(deps, message, span))) return undefined;
  const { held } = message;
  return { ...again(message), held: { by: machine.token(), span: held && isNow(held, span) ? held.span : span } };
};

const goesOn = async (
  { batches }: Pick<Deps, 'batches'>,
  { batchId, held, uncounted }: DueMessage,
  span: number,
): Promise<boolean> =>
  held === undefined ||
  isNow(held, span) ||
  (await batches.hold(batchId, { by: held.by, span, isUncounted: uncounted !== undefined }));

/** Whether a message was noted, or first sent, in this span, or in the next one by a clock that is ahead. */
const isNow = ({ span }: Held, now: number): boolean => span >= now && span <= now + 1;

/** Whether a message looks for the first time in its span: some things need not be done at every look. */
export const isFirstLook = ({ held }: Pick<DueMessage, 'held'>, now: Millis): boolean =>
  held === undefined || !isNow(held, Math.floor(now / SPAN));
