/**
 * Groups values by a key, in the order in which the keys first appear. It replaces `Map.groupBy`, which Node.js 20
 * lacks, on which the published package has to run.
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
