import { expect, it } from 'vitest';
import { expectEachOnceUnderFaults } from './sent-under-faults.ts';

it('300 tasks sent with a third of the requests failing reach the downstream once each', async () => {
  await expect(expectEachOnceUnderFaults(300)).resolves.toBeUndefined();
});
