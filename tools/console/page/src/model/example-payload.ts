/** An example payload for a test task. Pure. */

/**
 * @param target a Target of the operation, if there is one. The example uses its values, because they are valid.
 *
 * @param keys the operation's grouping keys. Dots in a key lead into nested objects.
 */
export const examplePayload = (operation: string, target: string | undefined, keys: readonly string[]): string => {
  const pairs = target === undefined ? keys.map((key) => [key, 'example'] as const) : pairsOf(operation, target);
  const payload: Record<string, unknown> = {};
  for (const [key, value] of pairs) put(payload, key.split('.'), value);
  return JSON.stringify(payload, undefined, 2);
};

/**
 * The pairs of key and value in a Target. The shard number at the end of the Target is left out, because it belongs to
 * no key.
 */
const pairsOf = (operation: string, target: string): (readonly [string, string])[] =>
  target
    .slice(operation.length + 1)
    .replace(/~\d+$/, '')
    .split('/')
    .flatMap((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [] : [[decodeURIComponent(part.slice(0, at)), decodeURIComponent(part.slice(at + 1))] as const];
    });

const put = (into: Record<string, unknown>, [key = '', ...rest]: readonly string[], value: string): void => {
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  const inner = (Object.hasOwn(into, key) ? into[key] : {}) as Record<string, unknown>;
  into[key] = inner;
  put(inner, rest, value);
};
