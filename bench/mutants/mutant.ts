/** A small wrong change to a file of this repository, which a test has to notice. */
export interface Mutant {
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly put: string;
  /** Test files of which one fails because of it. */
  readonly noticedBy: readonly string[];
}

/** Mutants of one file that the same tests notice. @param changes what is found, and what is put in its place */
export const mutantsOf = (
  file: string,
  noticedBy: readonly string[],
  ...changes: readonly (readonly [find: string, put: string])[]
): Mutant[] => changes.map(([find, put]) => ({ file, find, put, noticedBy }));
