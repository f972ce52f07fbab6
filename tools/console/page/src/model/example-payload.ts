/** A payload to begin with. Pure. */

/**
 * @param target a Target of the operation, if there is one: its values are right for sure.
 * @param keys the operation's grouping keys, which walk into objects by dots.
 */
export const examplePayload = (operation: string, target: string | undefined, keys: readonly string[]): string => {
  const pairs = target === undefined ? keys.map((key) => [key, 'example'] as const) : pairsOf(operation, target);
  const payload: Record<string, unknown> = {};
  for (const [key, value] of pairs) put(payload, key.split('.'), value);
  return JSON.stringify(payload, undefined, 2);
};

/** A shard's number at the end belongs to the Target, and to no key. */
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
