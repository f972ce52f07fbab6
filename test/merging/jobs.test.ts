import { describe, expect, it } from 'vitest';
import { INPUTS_PER_JOB, inJobs } from '../../src/domain/merging/jobs.ts';

const request = (from: number, count: number) => ({
  payload: JSON.stringify({ inputs: Array.from({ length: count }, (_, n) => from + n) }),
});
const sizes = (requests: readonly { readonly payload: string }[]) =>
  inJobs(requests, 'inputs[]').map((job) => job.length);

describe('merged tasks', () => {
  it('are one job up to the limit, and the next job has the rest', () => {
    const half = INPUTS_PER_JOB / 2;
    expect(sizes([request(0, half), request(half, half)])).toEqual([2]);
    expect(sizes([request(0, half), request(half, half + 1)])).toEqual([1, 1]);
    expect(sizes([request(0, half), request(half, half), request(INPUTS_PER_JOB, 1), request(9e6, half)])).toEqual([
      2, 2,
    ]);
  });

  it('count a key once, so tasks that share their inputs are one job', () => {
    expect(sizes(Array.from({ length: 1_000 }, () => request(0, INPUTS_PER_JOB)))).toEqual([1_000]);
    expect(sizes([request(0, INPUTS_PER_JOB), request(1, INPUTS_PER_JOB)])).toEqual([1, 1]);
  });

  it('keep their order, and 50,000 inputs are 25 jobs', () => {
    const requests = Array.from({ length: 50 }, (_, n) => request(n * 1_000, 1_000));
    const jobs = inJobs(requests, 'inputs[]');
    expect(jobs.map((job) => job.length)).toEqual(Array.from({ length: 25 }, () => 2));
    expect(jobs.flat()).toEqual(requests);
  });

  it('without readable inputs go with the others; one above the limit goes alone', () => {
    const odd = [{ payload: '{' }, { payload: '{}' }, request(0, 0)];
    expect(sizes([...odd, request(0, INPUTS_PER_JOB), ...odd])).toEqual([7]);
    expect(inJobs([request(0, 1), request(1, 9), request(0, 1)], 'inputs[]', 3).map((job) => job.length)).toEqual([
      1, 1, 1,
    ]);
    expect(inJobs([], 'inputs[]')).toEqual([]);
  });
});
