/**
 * Splits the requests of a merged batch into jobs. A job has few enough inputs for the function to have time to store
 * which inputs are done.
 */
import { parseJson } from '../../util/json-text.ts';
import { type InputKey, keysIn } from './inputs.ts';

/**
 * Most inputs of a job. For each input that is done, the function writes a row in the Target's partition, which accepts
 * 1,000 writes per second. The function has at least five seconds for all writes after its call, and half of this time
 * is for the results.
 */
export const INPUTS_PER_JOB = 2_500;

/**
 * Requests in their order, in groups of at most `most` distinct inputs. A single request may have more.
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
  const found = json.ok ? keysIn(keys, json.value, payload) : json;
  return found.ok ? found.value : [];
};
