/** A gate through which calls on the table fail. */
import type { Gate } from '../../src/virtual/gate.ts';

class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

/** `after`: the call takes effect, and its answer is lost. */
export type When = 'before' | 'after';

interface Fault {
  /** The call's name in the port. Every call fails without it. */
  readonly call?: string;
  readonly when: When;
  /** @default - while `isOn` returns true */
  readonly times?: number;
  readonly isOn?: () => boolean;
}

/** Lets calls fail, and counts the failed ones. */
export const faulty = ({ call, when, times = Infinity, isOn = () => true }: Fault) => {
  let failed = 0;
  const gate: Gate = async (name, effects) => {
    const fails = failed < times && isOn() && (call === undefined || name === `fleets.${call}`);
    if (!fails) return effects.map((effect) => effect());
    failed += 1;
    if (when === 'after') for (const effect of effects) effect();
    throw new CallFailed(`${name}, ${when} its effect`);
  };
  return { gate, failed: () => failed };
};
