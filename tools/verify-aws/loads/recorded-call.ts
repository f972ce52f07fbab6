/** The message of the downstream function about a call. */
export interface RecordedCall {
  readonly batchId: string;
  readonly operation: string;
  readonly attempt: number;
  /** Time of the call, by the clock of the function. */
  readonly at: number;
  /** Ids of the call's items. */
  readonly ids: readonly string[];
}
