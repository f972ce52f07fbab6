/** Splits the requests of a merged batch into jobs: each has so few inputs that a function has time to store which of them are done. */
import { parseJson } from '../../util/json-text.ts';
import { type InputKey, keysIn } from './inputs.ts';

/**
 * Inputs of a job at the most. Each that is done is a write in its Target's partition, which takes 1,000 a second. A function has
 * five seconds at least for all writes after its call, and half of them is for the results.
 */
export const INPUTS_PER_JOB = 2_500;

/**
 * Requests in their order, in groups that have at most `most` inputs, each key once. A request alone may have more.
 *
 * @param keys `merge.keys`
 */
export const inJobs = <Request extends { readonly payload: string }>(
  requests: readonly Request[],
  keys: string,
  most = INPUTS_PER_JOB,
): readonly (readonly Request[])[] => {
  const jobs: Request[][] = [];
  let inputs = new Set<InputKey>();
  for (const request of requests) {
    const own = inputsOf(request, keys);
    const further = new Set(own.filter((key) => !inputs.has(key))).size;
    const current = jobs.at(-1);
    if (current && inputs.size + further <= most) current.push(request);
    else {
      jobs.push([request]);
      inputs = new Set();
    }
    for (const key of own) inputs.add(key);
  }
  return jobs;
};

const inputsOf = ({ payload }: { readonly payload: string }, keys: string): readonly InputKey[] => {
  const json = parseJson(payload);
  const found = json.ok ? keysIn(keys, json.value) : json;
  return found.ok ? found.value : [];
};
