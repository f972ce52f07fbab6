import type * as z from 'zod/mini';

/** One thing that is wrong with an input: where it is, and what to do about it. */
export interface Problem {
  /** Path into the input, such as `payload.depot` or `operations.parcels.batch.maxWait`. Empty for the whole input. */
  readonly path: string;
  readonly reason: string;
}

/** A parsed value, or everything that is wrong with the input. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export const mapParsed = <From, To>(parsed: Parsed<From>, to: (value: From) => To): Parsed<To> =>
  parsed.ok ? { ok: true, value: to(parsed.value) } : parsed;

/** The message of an error; for any other thrown value, its text. */
export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** Most problems that a message shows. Users would not read more. */
export const PROBLEMS_SHOWN = 20;

export const describeProblem = ({ path, reason }: Problem): string => (path === '' ? reason : `${path} ${reason}`);

/** One line for each problem, for users. */
export const describeProblems = (problems: readonly Problem[]): string => problems.map(describeProblem).join('\n');

/** The first problems in one line, for users. */
export const describeInBrief = (problems: readonly Problem[]): string => inBrief(problems.map(describeProblem));

/** The first of many texts in one line, and how many more there are. */
export const inBrief = (texts: readonly string[]): string => {
  const more = texts.length > PROBLEMS_SHOWN ? [`and ${texts.length - PROBLEMS_SHOWN} more`] : [];
  return [...texts.slice(0, PROBLEMS_SHOWN), ...more].join('; ');
};

/** All problems that a schema found with the fields of `what`, such as "a register message". */
export const problemsIn = ({ issues }: z.core.$ZodError, what: string): Problem[] =>
  issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: key.slice(0, 100), reason: `is not a field of ${what}` }))
      : [{ path: issue.path.join('.'), reason: issue.message }],
  );
