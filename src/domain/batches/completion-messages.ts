/** What a job reported in one request, in as many messages as SQS needs: each says of its items alone how they ended. */
import type { BatchId } from '../ids.ts';
import { SQS_MAX_BYTES } from '../messages.ts';
import type { CompletionMessage } from './messages.ts';

/** A message has room for so many bytes of results or inputs: a batch's id may have 2 KB, and JSON may write one character as six. */
export const RESULTS_MAX_BYTES = SQS_MAX_BYTES - 16_384;

/** @param results each as JSON text, none larger than a message; null where all have succeeded. */
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
