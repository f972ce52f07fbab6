/**
 * Holds a batch while its operation or Target is paused. The batch's message comes back each minute, for months if
 * necessary, and the batch handler checks whether the pause is over. Each check sends the message for the next one. A
 * batch that waits for a slot, or for a moment under its operation's rate, is held likewise. So is a message that comes
 * while an attempt runs or before the next one is due.
 *
 * SQS may deliver a message twice, or again because its function died after it had sent the next one. Then both
 * deliveries send a message, and both go on. With one such repetition in a thousand checks, one message becomes 20,000
 * within a week. So in each span of 15 minutes, one check notes its message in the batch's row after it has sent it. A
 * check whose message is not the noted one ends without sending another.
 *
 * A message keeps its name for its span. The message loses the name when it waits for a reserved moment, and the
 * message for the next attempt has none. A message without a name gets one when it is held. The new name replaces the
 * noted one, which may be an earlier name of the same message.
 *
 * The note comes after the message. If the note came first, its function could die in between. If SQS had delivered
 * that message twice and the other delivery was deleted, the noted message would never come, while the note ends all
 * others (seed 502293268). If two checks both send before one of them notes, the message of the other ends at its next
 * check.
 *
 * A function may be suspended between sending message M and noting it, for longer than M's delay. So M carries the name
 * of the message that was noted when M was sent (`after`). That note does not end M, since M may be the only message
 * left (seed 1003080958).
 *
 * A message that marks an attempt as uncounted ends only for another such message. It replaces any other note.
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

/** A check in each span writes the batch's row. */
const SPAN: Millis = 15 * MINUTE;

/**
 * When a batch that is held by a pause checks again: after the pause's end, spread at random so that not all batches
 * come back at once, and at least each minute, since a user may end any pause.
 *
 * @param until when the pause ends by itself.
 */
export const lookAgain = (
  { circuit }: Operation,
  until: Millis = Number.POSITIVE_INFINITY,
  now: Millis,
  random: number,
): Millis => Math.min(until + random * (circuit?.coolDown ?? 0), now + MINUTE);

/** Holds the batch. No attempt begins. */
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
  // Check again as soon as the batch may lend its slot, since other Targets wait for it (K4).
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
 * Sends the message for the next check, unless another message replaces this one.
 *
 * @param batch as it was read for this check.
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
 * Another message was noted since the batch was read. The message just sent ends because of that note. But the noted
 * message may not exist any more: a suspended function may have noted it late. So this sends one more message and notes
 * it instead. If that is refused too, the message noted then was sent after this check began, so it is another one and
 * goes on. A third message would only be one more.
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

/** Whether another message replaces this one: the noted one is neither this one nor the one noted before it. */
const isOver = ({ held, uncounted }: DueMessage, noted: Noted | undefined, span: number): boolean =>
  noted !== undefined &&
  noted.span >= span &&
  noted.by !== held?.by &&
  noted.by !== held?.after &&
  (uncounted === undefined || noted.isUncounted);

/**
 * Notes a message. The note only keeps messages few, so a failure is reported and does not fail the check. Otherwise
 * the message would come back and send another one.
 */
const note = async ({ batches, report }: CallDeps, batchId: BatchId, next: NextHeld): Promise<void> => {
  try {
    await batches.hold(batchId, next);
  } catch (cause) {
    report({ event: 'hold-not-noted', batchId, cause: String(cause) });
  }
};

/** Whether a message was first sent in this span, or in the next one by a clock that is ahead. */
const isNow = ({ span }: Held, now: number): boolean => span >= now && span <= now + 1;

/** Whether a message is checked for the first time in its span. Some work is not needed at each check. */
export const isFirstLook = ({ held }: Pick<DueMessage, 'held'>, now: Millis): boolean =>
  held === undefined || !isNow(held, Math.floor(now / SPAN));
