/** How the sending of some messages ended. */

/** What became of a message. One that failed may be in the queue all the same: its answer was lost, or SQS had an error. */
export type Outcome =
  | { readonly is: 'sent'; readonly messageId: string }
  | { readonly is: 'failed' }
  /** No request was made for it. */
  | { readonly is: 'unsent' };

/** What became of some messages, in order; why not all were sent, where that is so. */
export interface Sending {
  readonly outcomes: readonly Outcome[];
  readonly failure?: { readonly cause: unknown };
}
