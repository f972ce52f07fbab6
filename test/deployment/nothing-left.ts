import { expect } from 'vitest';
import type { Cloud } from '../backends/cloud.ts';
import { leftOf } from '../backends/left.ts';
import { eventually } from '../end-to-end/flow.ts';

/** Waits until nothing of the stacks is listed. SQS lists a queue for up to a minute after its deletion. */
export const expectNothingLeft = async (cloud: Cloud, prefix: string): Promise<void> => {
  let left: string[] = [];
  await eventually(async () => {
    left = await leftOf(cloud, prefix);
    return left.length === 0;
  }, 90_000).catch(() => expect(left).toEqual([]));
};
