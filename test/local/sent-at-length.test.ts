import { expect, it } from 'vitest';
import { expectEachOnceUnderFaults } from './sent-under-faults.ts';

it('10,000 tasks sent with a third of the requests failing reach the downstream once each', async () => {
  await expect(expectEachOnceUnderFaults(10_000)).resolves.toBeUndefined();
});
