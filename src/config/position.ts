/** A place in a file, as editors show it. */
export interface Position {
  /** The first line is 1. */
  readonly line: number;
  /** The first character of a line is 1. */
  readonly column: number;
}

/** @param offset in UTF-16 code units. */
export const positionAt = (text: string, offset: number): Position => {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
};
