/** Sizes of schedules: what `--size` names. */
import { harshScenarioOf } from './harsh-scenario.ts';
import { largeScenarioOf } from './large-scenario.ts';
import { longScenarioOf } from './long-scenario.ts';
import { scenarioOf } from './scenario.ts';
import type { Scenario } from './world.ts';

export type Size = 'usual' | 'harsh' | 'large' | 'long';

/** The scenario of a seed, of each size, and how many of them a thread takes at once. */
export const SIZES: Readonly<
  Record<Size, { readonly scenarioOf: (seed: number) => Scenario; readonly chunk: number }>
> = {
  usual: { scenarioOf, chunk: 50 },
  harsh: { scenarioOf: harshScenarioOf, chunk: 50 },
  large: { scenarioOf: largeScenarioOf, chunk: 2 },
  long: { scenarioOf: longScenarioOf, chunk: 5 },
};

/** @throws RangeError */
export const sizeOf = (text: string): Size => {
  if (Object.hasOwn(SIZES, text)) return text as Size;
  throw new RangeError(`--size takes one of ${Object.keys(SIZES).join(', ')}, not ${text}`);
};
