/**
 * Hold a batch while its operation or Target is paused. Each minute, for months if need be, its message has the batch function look
 * whether the pause is over. Each look sends the message for the next one. A batch that waits for a slot, or far back in line for its
 * operation's rate, is held in the same way, and so is a message that finds an attempt under way or the next one not due yet.
 *
 * SQS may deliver a message twice, or deliver it again because its function died after it had sent the next one. Then both
 * deliveries send a message, and each of these is looked at from then on: with one such repetition in a thousand looks, one
 * message becomes 20,000 within a week. So once in each span of 15 minutes a look that has sent its message notes that message in
 * the batch's row. A look in a span in which another message is noted ends without sending one.
 *
 * A message keeps its name for its span. It loses it when it waits for a reserved moment, and the message that an attempt sends for the next
 * one has none. A message without a name that begins to be held gets one, and takes the place of the one that is noted, which may have been itself.
 *
 * The note comes after the message. If the note came first, its function could die in between, and if SQS had delivered that
 * message twice and the other delivery was deleted, the noted message would never come back while the note ends all others
 * (seed 502293268). Of two looks that both send before one of them notes, the message of the other ends at its next look.
 *
 * A function may pause between sending message M and noting it, for longer than M's delay. So M carries the name of the message that was
 * noted when M was sent (`after`). M does not end because of that note: M may be the only message left (seed 1003080958).
 *
 * A message that says that an attempt does not count ends only for another one that says so: it takes the place of any other note.
 */

import { type Batch, type Held, isFinished, type Noted } from '../../domain/batches/batch.ts';
import { again, type DueMessage } from '../../domain/batches/messages.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import type { BatchId, Millis } from '../../domain/ids.ts';
import type { Pause } from '../../domain/operations/slots.ts';
import { delayPast, MINUTE } from '../../domain/timings.ts';
import type { NextHeld } from '../../ports/batches.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { lendsFrom } from '../slots/batch-slot.ts';

/** Each costs a write of the batch's row. */
const SPAN: Millis = 15 * MINUTE;

/**
 * When a batch that a pause holds up looks again: when it is over, though they do not all come back at its end; and each
 * minute, since a person may end any of them.
 *
 * @param until when the pause ends by itself.
 */
export const lookAgain = (
  { circuit }: Operation,
  until: Millis = Number.POSITIVE_INFINITY,
  now: Millis,
  random: number,
): Millis => Math.min(until + random * (circuit?.coolDown ?? 0), now + MINUTE);

/** The batch waits as it is: no attempt begins. */
export const hold = async (
  deps: CallDeps,
  message: DueMessage,
  batch: Batch,
  operation: Operation,
  pause: Pause,
): Promise<Next> => {
  const { by, until } = pause;
  const { machine, report } = deps;
  const now = machine.now();
  const look = lookAgain(operation, until, now, machine.random());
  // As soon as it may lend its slot: others wait for it.
  const lends = by === 'person' ? lendsFrom(pause) : now;
  const delay = delayPast(now < lends ? Math.min(look, lends) : look, now);
  if (!(await lookLater(deps, message, batch, delay))) return 'end';
  report({
    event: 'held',
    batchId: batch.id,
    operation: batch.operation,
    by,
    ...(until === undefined ? {} : { until }),
  });
  return 'end';
};

/**
 * Sends the message for the next look, unless another message goes on in its place.
 *
 * @param batch as it was read for this look.
 * @param delay in seconds.
 * @returns whether it was sent.
 */
export const lookLater = async (
  deps: CallDeps,
  message: DueMessage,
  batch: Pick<Batch, 'id' | 'held'>,
  delay: number,
): Promise<boolean> => {
  const { queues, machine } = deps;
  const span = Math.floor(machine.now() / SPAN);
  const { held } = message;
  if (held && isOver(message, batch.held, span)) return false;
  if (held && isNow(held, span)) {
    await queues.batch({ ...again(message), held }, delay);
    return true;
  }
  const next: Held = { by: machine.token(), span };
  const after = held ? held.by : batch.held?.by;
  await queues.batch({ ...again(message), held: { ...next, ...(after === undefined ? {} : { after }) } }, delay);
  if (after === undefined) return true;
  const noted = { ...next, isUncounted: message.uncounted !== undefined, after };
  if (held) await note(deps, batch.id, noted);
  else if (!(await deps.batches.hold(batch.id, noted))) await takePlace(deps, message, next, delay);
  return true;
};

/**
 * Another message was noted since the batch was read. The message that was just sent ends for that one, which may not exist any more: a
 * function that stood still may have noted it late. So one more message is sent, and noted in its place. If that is refused as well, the
 * message that is noted then was sent after this look began, so it is not this one, and goes on: a third message would only be one more.
 */
const takePlace = async (
  { batches, queues, machine }: CallDeps,
  message: DueMessage,
  { by, span }: Held,
  delay: number,
): Promise<void> => {
  const batch = await batches.get(message.batchId);
  if (batch?.held === undefined || isFinished(batch.status) || batch.held.by === by) return;
  const next = { by: machine.token(), span, after: batch.held.by };
  await queues.batch({ ...again(message), held: next }, delay);
  await batches.hold(batch.id, { ...next, isUncounted: message.uncounted !== undefined });
};

/** Whether another message goes on in the place of this one: one that is neither this one nor the one that was noted before it. */
const isOver = ({ held, uncounted }: DueMessage, noted: Noted | undefined, span: number): boolean =>
  noted !== undefined &&
  noted.span >= span &&
  noted.by !== held?.by &&
  noted.by !== held?.after &&
  (uncounted === undefined || noted.isUncounted);

/** Only keeps messages few. If it failed the look, its message would come back and send another one. */
const note = async ({ batches, report }: CallDeps, batchId: BatchId, next: NextHeld): Promise<void> => {
  try {
    await batches.hold(batchId, next);
  } catch (cause) {
    report({ event: 'hold-not-noted', batchId, cause: String(cause) });
  }
};

/** Whether a message was first sent in this span, or in the next one by a clock that is ahead. */
const isNow = ({ span }: Held, now: number): boolean => span >= now && span <= now + 1;

/** Whether a message looks for the first time in its span: some things need not be done at every look. */
export const isFirstLook = ({ held }: Pick<DueMessage, 'held'>, now: Millis): boolean =>
  held === undefined || !isNow(held, Math.floor(now / SPAN));
