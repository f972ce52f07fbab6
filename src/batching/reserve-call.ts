/** Reserve the moment of a call under its operation's rate: before each call, the repeated ones too. */
import type { Invocation } from '../ports.ts';
import { NAP, nextMoment } from './call-rate.ts';
import type { Deps } from './deps.ts';
import type { Millis, OperationName } from './ids.ts';
import { OutOfTime } from './turns.ts';

type ReserveDeps = Pick<Deps, 'operations' | 'machine'>;

/**
 * Reserves the next moment. @returns it; undefined, and nothing is reserved, if it is after `latest`.
 * @throws OutOfTime where others were faster until the function's time was over.
 */
export const reserveCall = async (
  { operations, machine }: ReserveDeps,
  operation: OperationName,
  rate: number,
  { timeLeft }: Invocation,
  latest: Millis = Number.POSITIVE_INFINITY,
): Promise<Millis | undefined> => {
  while (timeLeft() > 0) {
    const { nextCallAt } = await operations.read(operation);
    const { at, next } = nextMoment(nextCallAt, machine.now(), rate);
    if (at > latest) return undefined;
    if (await operations.reserveCall(operation, nextCallAt, next)) return at;
    // Others reserve too, all at this moment.
    await machine.sleep(machine.random() * Math.min(NAP / 10, 1_000 / rate));
  }
  throw new OutOfTime(`no time left to reserve a call of ${operation}`);
};
