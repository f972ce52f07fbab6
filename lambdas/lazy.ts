/** What only some configurations need is loaded when it is first asked for: no cold start pays for it. */

/** Loads once, however many ask; a failure is not kept. */
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
