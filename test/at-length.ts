/**
 * Tests that take long. They run before a release, and whenever a file or folder is named. vitest.config.ts sets the
 * variable for all tests.
 */
import { it } from 'vitest';

export const AT_LENGTH = process.env.GROUPAGE_AT_LENGTH === '1';

/** `it` for a test that takes long. Otherwise the test is left out, and does not count as skipped. */
export const itAtLength = (name: string, test: () => Promise<void>): void => {
  if (AT_LENGTH) it(name, test);
};
