/** A part of a list that is too long for one answer. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}
