import { waves } from '../util/waves.ts';

/**
 * Every call on a port in memory goes through a gate, which decides when it happens and what goes wrong with it.
 *
 * A call is a list of effects, since the calls of the real ports are requests of many statements each: they may happen
 * at different moments, and only some of them.
 */
export type Gate = <T>(call: string, effects: readonly (() => T)[]) => Promise<T[]>;

/** Nothing goes wrong, at once. */
export const openGate: Gate = async (_, effects) => effects.map((effect) => effect());

/**
 * A call that writes many rows, in requests as the adapters send them: a row that is named twice is written twice, in the
 * order asked (src/util/waves.ts).
 *
 * @returns the answers in the order asked
 */
export const rowByRow = async <T, A>(
  gate: Gate,
  call: string,
  all: readonly T[],
  rowOf: (each: T) => string,
  write: (each: T, index: number) => A,
): Promise<A[]> => {
  const answers: A[] = [];
  const parts = waves([...all.entries()], ([, each]) => rowOf(each));
  // A call of nothing is a call, too: its function may die in it.
  for (const part of parts.length > 0 ? parts : [[]]) {
    const written = await gate(
      call,
      part.map(
        ([index, each]) =>
          () =>
            write(each, index),
      ),
    );
    for (const [turn, [index]] of part.entries()) answers[index] = written[turn] as A;
  }
  return answers;
};

/** A call with one effect. */
export const through = async <T>(gate: Gate, call: string, effect: () => T): Promise<T> => {
  const [answer] = await gate(call, [effect]);
  return answer as T;
};
