/** How the command line and the console print a number of which only a lower bound may be known. Pure. */

const digits = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });

/**
 * `1,847`, or `at least 1,847` if the true number may be larger. A lower bound of 0 tells nothing, so it is printed as
 * `unknown`.
 *
 * @param isAtLeast whether the true number may be larger.
 */
export const lowerBound = (value: number, isAtLeast = false): string =>
  isAtLeast ? (value === 0 ? 'unknown' : `at least ${digits(value)}`) : digits(value);

/** {@link lowerBound} with a noun: `1 task`, `at least 1,847 tasks`. @param isAtLeast as in {@link lowerBound}. */
export const lowerBoundOf = (value: number, isAtLeast: boolean | undefined, one: string, many = `${one}s`): string =>
  `${lowerBound(value, isAtLeast)} ${value === 1 && !isAtLeast ? one : many}`;

/** Like {@link lowerBound}, for places with little room: `≥ 1,847`. */
export const shortLowerBound = (value: number, isAtLeast = false): string =>
  isAtLeast ? (value === 0 ? '?' : `≥ ${digits(value)}`) : digits(value);
