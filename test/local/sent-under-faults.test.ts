import { expect, it } from 'vitest';
import { expectEachOnceUnderFaults } from './sent-under-faults.ts';

it('300 tasks that are sent while every third request fails, until all are, reach the downstream once each', async () => {
  await expect(expectEachOnceUnderFaults(300)).resolves.toBeUndefined();
});
