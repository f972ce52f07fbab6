/**
 * Hold a batch while its operation or Target is paused. Each minute, for months if need be, its message has the batch function look
 * whether the pause is over. Each look sends the message for the next one.
 *
 * SQS may deliver a message twice, or deliver it again because its function died after it had sent the next one. Then both
 * deliveries send a message, and each of these is looked at from then on: with one such repetition in a thousand looks, one
 * message becomes 20,000 within a week. So once in each span of 15 minutes a message notes itself in the batch's row before the
 * next one is sent, and ends if another message did so before. The message that is noted cannot get lost by that: if its function
 * dies, SQS delivers it again, and its own note does not stop it.
 */
import type { Operation } from '../config/resolved.ts';
import type { Batch } from './batch.ts';
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
  const span = Math.floor(now / SPAN);
  if (!(await goesOn(deps, message, span))) return 'end';
  const held = { by: machine.token(), span: Math.max(span, message.held?.span ?? 0) };
  await queues.batch({ ...again(message), held }, delayPast(lookAgain(operation, until, now, machine.random()), now));
  report({ event: 'held', batchId, operation: name, by, ...(until === undefined ? {} : { until }) });
  return 'end';
};

/** A message that says that an attempt does not count always goes on: no other one says so. */
const goesOn = async (
  { batches }: HoldDeps,
  { batchId, held, uncounted }: DueMessage,
  span: number,
): Promise<boolean> =>
  held === undefined ||
  held.span >= span ||
  uncounted !== undefined ||
  (await batches.hold(batchId, { by: held.by, span }));
