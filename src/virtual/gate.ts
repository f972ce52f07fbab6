import { waves } from '../util/waves.ts';

/**
 * Decides when a call on a port happens and which faults it meets. Every call on a port in memory goes through a gate.
 *
 * A call is a list of effects, because a real port sends requests with many statements. These statements may happen at
 * different moments, and some of them may fail.
 */
export type Gate = <T>(call: string, effects: readonly (() => T)[]) => Promise<T[]>;

/** A gate without faults and without delay. */
export const openGate: Gate = async (_, effects) => effects.map((effect) => effect());

/**
 * Writes many rows, in requests of the size that the adapters use. A row that is named twice is written twice, in the
 * given order (src/util/waves.ts).
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
  // A call without rows still goes through the gate, because its function may die in it.
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
