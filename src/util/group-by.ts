/**
 * Groups by a key, in the order of each key's first appearance: `Map.groupBy`, which Node.js 20 does not have yet and
 * the published package runs on.
 */
export const groupBy = <T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};
