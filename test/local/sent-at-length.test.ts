import { expect, it } from 'vitest';
import { expectEachOnceUnderFaults } from './sent-under-faults.ts';

it('10,000 tasks that are sent while every third request fails, until all are, reach the downstream once each', async () => {
  await expect(expectEachOnceUnderFaults(10_000)).resolves.toBeUndefined();
});
