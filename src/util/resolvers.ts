/** A promise with the functions that settle it. */
export interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (cause: unknown) => void;
}

/** Replaces `Promise.withResolvers`, because the published package must run on Node.js 20, which lacks it. */
export const withResolvers = <T = void>(): Resolvers<T> => {
  let [resolve, reject] = [(_: T): void => {}, (_: unknown): void => {}];
  const promise = new Promise<T>((fulfil, refuse) => {
    [resolve, reject] = [fulfil, refuse];
  });
  return { promise, resolve, reject };
};
