/** Does work on many values, a limited number of them at the same time, until the first failure. */
import pLimit from 'p-limit';

/**
 * Does `work` on each value, at most `atOnce` at the same time. After a failure no further work begins, and the work
 * that is under way is awaited. So when the returned promise rejects, no work is running any more.
 *
 * @returns the results, in order.
 * @throws the first failure.
 */
export const someAtOnce = async <T, Answer>(
  all: readonly T[],
  atOnce: number,
  work: (each: T) => Promise<Answer>,
): Promise<Answer[]> => {
  let failure: { readonly cause: unknown } | undefined;
  const answers = await pLimit(atOnce).map(all, async (each): Promise<Answer[]> => {
    if (failure) return [];
    try {
      return [await work(each)];
    } catch (cause) {
      failure ??= { cause };
      return [];
    }
  });
  if (failure) throw failure.cause;
  return answers.flat() as Answer[];
};
