/** Destinations of the test. They keep the events that they accept. */

import type { Config } from '../domain/config/resolved.ts';
import type { DeliverDeps } from '../steps/deliver/deliver-to.ts';
import { isTestFailure } from './failures.ts';
import type { Mishaps } from './mishaps.ts';
import type { CloudEvent, DestinationFunction } from './options.ts';
import type { Pace } from './pace.ts';
import type { DeliveredEvent } from './testbed.ts';

interface Destinations {
  readonly config: Config;
  readonly functions: Readonly<Record<string, DestinationFunction | undefined>>;
  readonly pace: Pace;
  readonly mishaps: Mishaps;
  readonly callbacks: DeliveredEvent[];
}

export const wayTo =
  ({ config, functions, pace, mishaps, callbacks }: Destinations): DeliverDeps['wayTo'] =>
  (destination) => {
    const to = Object.keys(config.destinations).find((name) => config.destinations[name] === destination) ?? '';
    return async ({ text }) => {
      if (mishaps.refuses(to)) throw new Error('answered 503');
      const event = JSON.parse(text) as CloudEvent;
      try {
        await pace.outside(`the destination ${to}`, () => functions[to]?.(event));
      } catch (cause) {
        if (isTestFailure(cause)) pace.fail(cause);
        throw cause;
      }
      callbacks.push({ to, event: JSON.parse(text) as CloudEvent, at: new Date(pace.scheduler.now) });
    };
  };
