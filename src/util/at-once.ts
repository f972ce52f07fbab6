/** Work on many things, some of them at once, that ends with its first failure. */
import pLimit from 'p-limit';

/**
 * Works on each, at most `atOnce` at the same time. After a failure no other one is begun, and those that are under way
 * are waited for: when this rejects, nothing goes on.
 *
 * @returns the answers, in order.
 * @throws what failed first.
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
