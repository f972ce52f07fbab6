/**
 * Holds a batch while its operation or Target is paused. The batch handler receives the batch's message each minute,
 * for months if necessary, and checks whether the pause is over. Each check sends the message for the next check. A
 * batch that waits for a slot, or for a moment under its operation's rate, is held in the same way. The same applies if
 * a message arrives while an attempt runs or before the next attempt is due.
 *
 * SQS may deliver a message twice, or again because the function died after it had sent the next message. Then both
 * deliveries send a message, and both chains of messages continue. If this happens once in a thousand checks, one
 * message becomes 20,000 within a week. So in each span of 15 minutes, one check sends its next message and then notes
 * that message in the batch's row. A check whose message is not the noted message ends without sending another.
 *
 * A message keeps its name for its span. The message loses its name when it waits for a reserved moment, and the
 * message for the next attempt has no name. A message without a name gets one when it is held. The new name replaces
 * the noted name, which may be an earlier name of the same message.
 *
 * The message is sent before it is noted. If it were noted first, the function could die before it sends the message.
 * The note would then end all other messages, although the noted message does not exist (seed 502293268). If two checks
 * send a message before either notes one, the message that is not noted ends at its next check.
 *
 * A function may be suspended between sending message M and noting it, for longer than M's delay. So M carries the name
 * of the message that was noted when M was sent (`after`). A note of that earlier message does not end M, because M may
 * be the only message left (seed 1003080958).
 *
 * A message that marks an attempt as uncounted ends only if the noted message has that mark too. Its own note replaces
 * any other note.
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

/** Length of a span. In each span, one check writes the batch's row. */
const SPAN: Millis = 15 * MINUTE;

/**
 * The time of the next check of a batch that is held by a pause: after the end of the pause, at a random moment so that
 * not all batches call at once. Checks are at most a minute apart, because a user may end any pause early.
 *
 * @param until when the pause ends unless a user ends it earlier.
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
  // Check again as soon as the batch may lend its slot, because other Targets may wait for that slot (K4).
  const lends = by === 'person' || batch.suspicion ? lendsFrom(pause) : now;
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
 * @returns whether the message was sent.
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
 * Handles the case that another message was noted after the batch was read. That note ends the message that was just
 * sent. But the noted message may no longer exist, because a suspended function may have noted it late. So this
 * function sends one more message and notes it instead. If this note is refused too, the message noted then was sent
 * after this check began, so that message exists and continues the checks. No third message is needed.
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

/**
 * Whether another message replaces this message: the noted message is neither this message nor the message that was
 * noted when this message was sent.
 */
const isOver = ({ held, uncounted }: DueMessage, noted: Noted | undefined, span: number): boolean =>
  noted !== undefined &&
  noted.span >= span &&
  noted.by !== held?.by &&
  noted.by !== held?.after &&
  (uncounted === undefined || noted.isUncounted);

/**
 * Notes a message. The note only limits the number of messages, so a failed note is reported and does not fail the
 * check. If the check failed, SQS would deliver its message again, and that delivery would send another message.
 */
const note = async ({ batches, report }: CallDeps, batchId: BatchId, next: NextHeld): Promise<void> => {
  try {
    await batches.hold(batchId, next);
  } catch (cause) {
    report({ event: 'hold-not-noted', batchId, cause: String(cause) });
  }
};

/** Whether a message was first sent in the current span, or in the next span by a function whose clock is ahead. */
const isNow = ({ span }: Held, now: number): boolean => span >= now && span <= now + 1;

/**
 * Whether this is the first check of a message in the current span. Work that is not needed at each check is done only
 * then.
 */
export const isFirstLook = ({ held }: Pick<DueMessage, 'held'>, now: Millis): boolean =>
  held === undefined || !isNow(held, Math.floor(now / SPAN));
