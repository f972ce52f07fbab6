/** The measures that are compared between a real run and a simulation of a trace. */
import type { Outcome, Spread } from '../../tools/simulate/outcome.ts';

export interface Seen {
  readonly calls: number;
  /** The number of tasks in these calls. */
  readonly tasks: number;
  readonly waits: Spread;
  readonly earlyGuards: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

export const seenIn = ({ operations, usage, earlyGuards }: Outcome): Seen => {
  const [only] = operations;
  if (!only || operations.length > 1) throw new Error('only a trace with exactly one operation can be compared');
  return {
    calls: only.calls,
    tasks: only.succeeded + only.failed,
    waits: only.waits,
    earlyGuards,
    writeUnits: usage.writeUnits,
    readUnits: usage.readUnits,
  };
};
