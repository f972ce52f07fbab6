/**
 * Schedules of plain tasks, to examine one feature alone, or to compare Groupage with a system that has no other
 * features.
 */

import type { Operation } from '../../src/domain/config/resolved.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import { withOperations } from './configurations.ts';
import type { Scenario } from './scenario.ts';

/** The schedule without caps, windows, quiet periods, circuits and rates, and without options of single tasks. */
export const withoutPolicies = ({ items: _, ...scenario }: Scenario): Scenario => ({
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
  limits: [],
  circuit: null,
});

const withoutRequests = (body: string): string => {
  const json = parseJson(body);
  if (!json.ok || !isObject(json.value)) return body;
  const { priority: _, weight: __, coalesceKey: ___, expiresIn: ____, fanOutItem: _____, ...rest } = json.value;
  return JSON.stringify(rest);
};
