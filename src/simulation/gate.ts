/**
 * Every call on a port in memory goes through a gate, which decides when it happens and what goes wrong with it.
 *
 * A call is a list of effects, since the calls of the real ports are requests of many statements each: they may happen
 * at different moments, and only some of them.
 */
export type Gate = <T>(call: string, effects: readonly (() => T)[]) => Promise<T[]>;

/** Nothing goes wrong, at once. */
export const openGate: Gate = async (_, effects) => effects.map((effect) => effect());

/** A call with one effect. */
export const through = async <T>(gate: Gate, call: string, effect: () => T): Promise<T> => {
  const [answer] = await gate(call, [effect]);
  return answer as T;
};
