/**
 * Reserves the moment of a call under its operation's rate, before each call including repeated ones (O6). If the first
 * call of a batch must wait, the batch's message waits in the queue until the reserved moment.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import { again, type DueMessage } from '../../domain/batches/messages.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import type { Millis, OperationName } from '../../domain/ids.ts';
import { NAP, nextMoment, reachOf, reservedIn, sleepSeconds, VOID_AFTER } from '../../domain/operations/call-rate.ts';
import type { CallLine, OperationState } from '../../domain/operations/slots.ts';
import { delaySeconds } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import { OutOfTime } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { lookLater } from './hold.ts';

/** A call for which a moment is to be reserved. */
export interface CallAsked {
  readonly operation: OperationName;
  /** Calls per second, as configured. */
  readonly rate: number;
  /**
   * Whether the line keeps its own rate. Set for later calls of an attempt, because the attempt may have begun under an
   * older configuration. Otherwise its calls and the calls of newer attempts would invalidate each other's lines.
   */
  readonly keepsLine?: boolean;
  /** The latest moment that may be reserved. */
  readonly latest: Millis;
}

/** A moment, and the line in which it is reserved. */
export interface Reserved {
  readonly at: Millis;
  readonly line: CallLine;
}

/**
 * O6. Reserves the next moment by a conditional write.
 *
 * @param seen the line as it was last read.
 * @returns undefined, and reserves nothing, if the next moment is after `latest`.
 * @throws OutOfTime if other functions won every race until this function's time was over.
 */
export const reserveCall = async (
  { operations, machine }: CallDeps,
  { operation, rate, keepsLine = false, latest }: CallAsked,
  seen: CallLine | undefined,
  { timeLeft }: Invocation,
): Promise<Reserved | undefined> => {
  for (let line = seen; timeLeft() > 0; { line } = await operations.read(operation)) {
    const reserved = nextMoment(line, machine.now(), keepsLine ? (line?.rate ?? rate) : rate);
    if (reserved.at > latest) {
      // If the old line is void, store the new line although nothing is reserved. Otherwise, if the gap between calls
      // is longer than a batch may reserve ahead, no try would replace the old line before its end.
      const isOver = line !== undefined && line.since !== reserved.line.since;
      if (isOver) await operations.reserveCall(operation, line, { ...reserved.line, next: reserved.at });
      return undefined;
    }
    const isReserved = await operations.reserveCall(operation, line, reserved.line);
    // If the write took longer than `VOID_AFTER`, other functions have reserved the moments since then.
    if (isReserved && machine.now() <= reserved.at + VOID_AFTER) return reserved;
    // Other functions reserve at the same moment, so wait for a random time.
    await machine.sleep(machine.random() * Math.min(NAP / 10, 1_000 / rate));
  }
  throw new OutOfTime(`no time left to reserve a call of ${operation}; SQS delivers the message of its batch again`);
};

/**
 * O6. Whether the first call may be made now. Otherwise the batch's message is delivered again at the moment that was
 * reserved for the call. If no moment was free within the time that a batch may reserve ahead, the message is delivered
 * again later to try once more.
 *
 * @param state the operation's row, as it was just read.
 */
export const isItsMoment = async (
  deps: CallDeps,
  message: DueMessage,
  batch: Pick<Batch, 'id' | 'held' | 'sealedAt' | 'oldestAt'>,
  { operation, rateLimit: rate }: Pick<Operation, 'operation' | 'rateLimit'>,
  { line }: Pick<OperationState, 'line'>,
  invocation: Invocation,
): Promise<boolean> => {
  const { operations, queues, machine } = deps;
  if (rate === null) {
    // Without a rate, remove the line, so that no batch must wait for old reservations if a rate is configured again
    // later.
    if (line) await operations.reserveCall(operation, line, undefined);
    return true;
  }
  const now = machine.now();
  const kept = reservedIn(message, line, rate, now);
  const asked = { operation, rate, latest: now + reachOf(now - (batch.sealedAt ?? batch.oldestAt)) };
  const moment = kept === undefined ? await reserveCall(deps, asked, line, invocation) : { at: kept, line };
  if (!moment) {
    // A batch that finds no moment tries again each minute, perhaps for hours. So it is held like a paused batch.
    await lookLater(deps, message, batch, Math.floor(sleepSeconds(machine.random())));
    return false;
  }
  const wait = moment.at - machine.now();
  if (wait > NAP) {
    await queues.batch({ ...again(message), at: Math.ceil(moment.at), line: moment.line?.since }, delaySeconds(wait));
    return false;
  }
  if (wait > 0) await machine.sleep(wait);
  return true;
};
