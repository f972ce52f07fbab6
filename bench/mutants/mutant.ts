/** A small wrong change to a file of this repository, which a test must notice. */
export interface Mutant {
  readonly file: string;
  /** The text to replace. It occurs once in the file. */
  readonly find: string;
  readonly put: string;
  /** Test files. At least one of them must fail because of the change. */
  readonly noticedBy: readonly string[];
}

/** Mutants of one file that the same tests must notice. @param changes pairs of the text to find and its replacement */
export const mutantsOf = (
  file: string,
  noticedBy: readonly string[],
  ...changes: readonly (readonly [find: string, put: string])[]
): Mutant[] => changes.map(([find, put]) => ({ file, find, put, noticedBy }));
