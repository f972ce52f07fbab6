/** The smallest value that is larger than the share `q` of `values`, or else the largest one. 0 if there are none. */
export const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? 0;
