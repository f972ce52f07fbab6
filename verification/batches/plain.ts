/** A schedule of tasks that only want to be batched: to look at one thing alone, or to compare with who knows no more. */

import type { Operation } from '../../src/domain/config/resolved.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { withOperations } from './configurations.ts';
import type { Scenario } from './scenario.ts';

/** Without caps, windows, quiet, circuits and rates; and without what producers may wish for. */
export const plain = ({ items: _, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  config: withOperations(scenario.config, bare),
  sends: scenario.sends.map(({ at, body }) => ({ at, body: withoutRequests(body) })),
  cancels: [],
  pauses: [],
  changes: [],
});

const bare = ({ batch }: Operation): Partial<Operation> => ({
  batch: { ...batch, maxWeight: 0, quietPeriod: 0, minSize: 1, window: null, bypass: null },
  concurrency: { perTarget: null, total: null },
  callbacks: { failed: null, succeeded: null },
  rateLimit: null,
  circuit: null,
});

const withoutRequests = (body: string): string => {
  const json = parseJson(body);
  if (!json.ok || !isObject(json.value)) return body;
  const { priority: _, weight: __, coalesceKey: ___, expiresIn: ____, fanOutItem: _____, ...rest } = json.value;
  return JSON.stringify(rest);
};
