/** Reserve the moment of a call under its operation's rate: before each call, the repeated ones too. */

import type { Millis, OperationName } from '../../domain/ids.ts';
import { NAP, nextMoment, VOID_AFTER } from '../../domain/operations/call-rate.ts';
import type { CallLine } from '../../domain/operations/slots.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { Deps } from '../deps.ts';
import { OutOfTime } from '../turns.ts';

type ReserveDeps = Pick<Deps, 'operations' | 'machine'>;

/** A call that wants a moment. */
export interface CallAsked {
  readonly operation: OperationName;
  /** Calls per second, as it is configured. */
  readonly rate: number;
  /**
   * Whether the line keeps its own rate: amid an attempt, which may have begun under an older configuration. Otherwise its
   * calls and those of newer ones would in turn make each other's lines void.
   */
  readonly keepsLine?: boolean;
  /** No moment after this one. */
  readonly latest: Millis;
}

/** A moment, and the line that it is reserved in. */
export interface Reserved {
  readonly at: Millis;
  readonly line: CallLine;
}

/**
 * Reserves the next moment.
 *
 * @param seen the line as it was read last.
 * @returns undefined, and no moment is reserved, if it is after `latest`.
 * @throws OutOfTime where others were faster until the function's time was over.
 */
export const reserveCall = async (
  { operations, machine }: ReserveDeps,
  { operation, rate, keepsLine = false, latest }: CallAsked,
  seen: CallLine | undefined,
  { timeLeft }: Invocation,
): Promise<Reserved | undefined> => {
  for (let line = seen; timeLeft() > 0; { line } = await operations.read(operation)) {
    const reserved = nextMoment(line, machine.now(), keepsLine ? (line?.rate ?? rate) : rate);
    if (reserved.at > latest) {
      // Otherwise a line that is over would stay until its end, where a gap is longer than any batch may reserve ahead.
      const isOver = line !== undefined && line.since !== reserved.line.since;
      if (isOver) await operations.reserveCall(operation, line, { ...reserved.line, next: reserved.at });
      return undefined;
    }
    const isReserved = await operations.reserveCall(operation, line, reserved.line);
    // Where the write took longer, others have had the moments since.
    if (isReserved && machine.now() <= reserved.at + VOID_AFTER) return reserved;
    // Others reserve too, all at this moment.
    await machine.sleep(machine.random() * Math.min(NAP / 10, 1_000 / rate));
  }
  throw new OutOfTime(`no time left to reserve a call of ${operation}`);
};
