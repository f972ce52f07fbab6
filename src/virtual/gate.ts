import { waves } from '../util/waves.ts';

/**
 * Every call on a port in memory goes through a gate, which decides when the call happens and which fault it meets.
 *
 * A call is a list of effects. The real ports send requests with many statements, which may happen at different
 * moments, and some may fail.
 */
export type Gate = <T>(call: string, effects: readonly (() => T)[]) => Promise<T[]>;

/** A gate without faults and without delay. */
export const openGate: Gate = async (_, effects) => effects.map((effect) => effect());

/**
 * Writes many rows, in the requests that the adapters send. A row that is named twice is written twice, in the given
 * order (src/util/waves.ts).
 *
 * @returns the answers in the given order
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
  // A call without rows still goes through the gate, since its function may die in it.
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
