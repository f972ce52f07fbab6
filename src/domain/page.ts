/** One page of a list that is too long for one answer. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Pass it to get the next page. Absent on the last page. */
  readonly cursor?: string;
}
