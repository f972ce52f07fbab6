/** A request to the relay function, and its answer, as they pass through the queue and the table of the relay. */

export interface RelayedRequest {
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A row has at most 400 KB, so a long answer has several rows. */
export interface AnswerRow {
  readonly Id: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** This row's part of the body. */
  readonly body: string;
  /** Number of rows of the answer. */
  readonly parts: number;
}

export const rowKey = (id: string, part: number) => ({ Id: `${id}#${part}` });

/** Characters of a body in a row. A character has up to three bytes in UTF-8. */
const PART = 100_000;

/** The rows of an answer, the first row last: the answer is read once its first row is there. */
export const rowsOf = (
  id: string,
  { status, headers, body }: Pick<AnswerRow, 'status' | 'headers' | 'body'>,
): AnswerRow[] => {
  const parts = Math.max(1, Math.ceil(body.length / PART));
  return Array.from({ length: parts }, (_, part) => ({
    ...rowKey(id, part),
    status,
    headers,
    body: body.slice(part * PART, (part + 1) * PART),
    parts,
  })).reverse();
};
