/** Loads code that only some configurations need on demand, so that it does not lengthen cold starts. */

/**
 * Loads a module only once for all callers. A failure is not stored, so after a failure the next caller tries again.
 */
export const once = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined;
      throw cause;
    });
    return loading;
  };
};
