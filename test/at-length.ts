/**
 * Whether tests that take long run as well: in CI, and if a file or folder is named. vitest.config.ts sets the variable
 * for all tests.
 */
export const AT_LENGTH = process.env.GROUPAGE_AT_LENGTH === '1';
