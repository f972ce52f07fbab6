/** The result of sending several messages. */

/**
 * The result for one message. A message that failed may still be in the queue: its answer was lost, or SQS had an
 * error.
 */
export type Outcome =
  | { readonly is: 'sent'; readonly messageId: string }
  | { readonly is: 'failed' }
  /** No request contained it. */
  | { readonly is: 'unsent' };

/** The results of several messages in order, and why some were not sent, if so. */
export interface Sending {
  readonly outcomes: readonly Outcome[];
  readonly failure?: { readonly cause: unknown };
}
