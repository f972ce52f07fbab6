/** Set in CI, where a missing engine is a failure. */
export const NOTHING_MAY_BE_MISSING = process.env.GROUPAGE_REQUIRE_ALL === '1';
