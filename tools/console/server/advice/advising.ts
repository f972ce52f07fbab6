/** `GET /console/advice`: advice about an operation, kept for some minutes because its simulations take CPU time. */

import type { Millis } from '../../../../src/domain/ids.ts';
import type { CallApi } from '../call.ts';
import type { MetricsSource } from '../metrics-feed.ts';
import type { Advice } from '../shapes.ts';
import { advise } from './advise.ts';

/** @throws NoConfiguration if there is no such operation @throws CommandFailure if the API or the metrics cannot be read */
export type Advising = (operation: string) => Promise<Advice>;

/** How long advice is kept. Its figures change slowly. */
const KEPT: Millis = 5 * 60_000;
/** Advice that lacks figures is given again soon, because figures arrive every few seconds. */
const KEPT_WITHOUT_FIGURES: Millis = 5_000;

interface Kept {
  readonly advice: Promise<Advice>;
  until: Millis;
}

export const advising = (call: CallApi, metrics: MetricsSource, now: () => Millis = Date.now): Advising => {
  const kept = new Map<string, Kept>();
  // One after the other, so that the simulations of several pages do not take all cores.
  let last: Promise<unknown> = Promise.resolve();
  return async (operation) => {
    for (const [name, { until }] of kept) if (until <= now()) kept.delete(name);
    const known = kept.get(operation);
    if (known) return known.advice;
    const advice = last.then(() => advise(call, metrics, operation));
    last = advice.catch(() => {});
    const entry: Kept = { advice, until: Number.POSITIVE_INFINITY };
    kept.set(operation, entry);
    try {
      const { kind } = await advice;
      entry.until = now() + (kind === 'too-few-figures' ? KEPT_WITHOUT_FIGURES : KEPT);
    } catch (cause) {
      kept.delete(operation);
      throw cause;
    }
    return advice;
  };
};
