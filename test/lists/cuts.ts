/** Stops a process before each of its calls in turn, and lets something else happen there. */
import type { Gate } from '../../src/virtual/gate.ts';

/** The process is gone. */
class Gone extends Error {
  override readonly name = 'Gone';
}

/** A gate that has something happen around its `n`th call, from 1; whether it got so far shows then. */
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

/** Dies there; what it did with its last call is done (`after`), or not. */
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

/** @param scene is run with cut 1, 2, 3, … and answers whether it got so far. @returns how many cuts there were */
export const atEachCut = async (scene: (n: number) => Promise<boolean>): Promise<number> => {
  let n = 1;
  while (await scene(n)) n += 1;
  return n - 1;
};
