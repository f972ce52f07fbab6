/**
 * Splits the results that a job reports in one request into as many completion messages as SQS needs. Each message
 * reports its own items only.
 */
import type { BatchId } from '../ids.ts';
import { SQS_MAX_BYTES } from '../messages.ts';
import type { CompletionMessage } from './messages.ts';

/**
 * Most bytes of results or inputs in one message. The rest is left for the batch id, which has up to 2 KB. JSON may
 * write one character of the id as six.
 */
export const RESULTS_MAX_BYTES = SQS_MAX_BYTES - 16_384;

/** @param results each as JSON text, none larger than a message; null if all items succeeded. */
export const completionMessages = (
  batchId: BatchId,
  results: readonly string[] | null,
): readonly CompletionMessage[] => {
  if (results === null) return [{ kind: 'completion', batchId, results: null }];
  const messages: string[][] = [];
  let bytesLeft = 0;
  for (const result of results) {
    const bytes = Buffer.byteLength(result) + 1;
    if (bytes > bytesLeft) {
      messages.push([]);
      bytesLeft = RESULTS_MAX_BYTES;
    }
    messages.at(-1)?.push(result);
    bytesLeft -= bytes;
  }
  return messages.map((each) => ({ kind: 'completion', batchId, results: `[${each.join(',')}]` }));
};
