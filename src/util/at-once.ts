/** Does work on many values, some of them at once, until the first failure. */
import pLimit from 'p-limit';

/**
 * Does `work` on each value, at most `atOnce` at the same time. After a failure no further work begins, and the work
 * that is under way is awaited. So nothing is running any more when this rejects.
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
