/** What is right in a configuration and may still be a surprise, with what to do about it. */
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { ANSWER_MAX_BYTES } from '../../src/domain/downstream/http-answer.ts';

/** Results of this size are common: URLs, labels, a small document. A batch with room for them needs no hint. */
const USUAL_RESULT_BYTES = 10_000;

/** A line for each operation whose full batches have so many tasks that their results may not fit into one answer. */
export const hintsOf = ({ operations }: Config): string[] => Object.values(operations).flatMap(roomForResults);

const roomForResults = ({ operation, batch: { maxSize }, downstream: { kind } }: Operation): string[] => {
  const room = Math.floor(ANSWER_MAX_BYTES / maxSize);
  // The other kinds report by messages, or not at all.
  if (room >= USUAL_RESULT_BYTES || (kind !== 'http' && kind !== 'lambda')) return [];
  return [
    `${operation}: an answer may have 6 MB, so the results of ${maxSize.toLocaleString('en')} tasks may have about ${room.toLocaleString('en')} bytes each. A larger answer is not read: the call is repeated in halves, and so are its effects. If results can be larger, lower batch.maxSize, or store them and answer with where they are.`,
  ];
};
