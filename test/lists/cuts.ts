/** Stops a process before or after each of its calls in turn, and runs something else at that point. */
import type { Gate } from '../../src/virtual/gate.ts';

/** The error of a process that died. */
class Gone extends Error {
  override readonly name = 'Gone';
}

/** A gate that runs `cut` around its `n`th call, counted from 1, and reports whether that call was reached. */
export const gateAt = (n: number, when: 'before' | 'after', cut: (call: string) => Promise<void>) => {
  let calls = 0;
  const gate: Gate = async (call, effects) => {
    calls += 1;
    const isHere = calls === n;
    if (isHere && when === 'before') await cut(call);
    const answers = effects.map((effect) => effect());
    if (isHere && when === 'after') await cut(call);
    return answers;
  };
  return { gate, isReached: () => calls >= n };
};

/** A gate at which the process dies, before (`before`) or after (`after`) its `n`th call takes effect. */
export const dyingAt = (n: number, when: 'before' | 'after') => {
  const at = gateAt(n, when, () => Promise.reject(new Gone()));
  let isDead = false;
  const gate: Gate = async (call, effects) => {
    if (isDead) throw new Gone();
    try {
      return await at.gate(call, effects);
    } catch (cause) {
      isDead = true;
      throw cause;
    }
  };
  return { gate, isReached: at.isReached };
};

/** @param scene is run with cut 1, 2, 3, … and returns whether the cut was reached. @returns the number of cuts */
export const atEachCut = async (scene: (n: number) => Promise<boolean>): Promise<number> => {
  let n = 1;
  while (await scene(n)) n += 1;
  return n - 1;
};
