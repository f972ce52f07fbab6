/** A promise, and who settles it. */
export interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (cause: unknown) => void;
}

/** `Promise.withResolvers`, which Node.js 20 does not have yet and the published package runs on. */
export const withResolvers = <T = void>(): Resolvers<T> => {
  let [resolve, reject] = [(_: T): void => {}, (_: unknown): void => {}];
  const promise = new Promise<T>((fulfil, refuse) => {
    [resolve, reject] = [fulfil, refuse];
  });
  return { promise, resolve, reject };
};
