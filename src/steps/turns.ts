/** A step's turns: each reads what is true now and does one thing about it. */
import type { Invocation } from '../ports/machine.ts';

export type Next = 'again' | 'end';

/** The function's time ran out between two turns: the message comes back and goes on. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** Takes turns until one ends. @param what they are about, for the error. @throws OutOfTime */
export const untilDone = async (what: string, invocation: Invocation, turn: () => Promise<Next>): Promise<void> => {
  while ((await turn()) === 'again')
    if (invocation.timeLeft() <= 0) throw new OutOfTime(`no time left for ${what}; its message comes back`);
};
