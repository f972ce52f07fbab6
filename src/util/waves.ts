/**
 * Splits a list so that no part has two elements with one key. Usually there is one part. Elements with one key keep
 * their order.
 *
 * DynamoDB refuses a whole request that names a row twice. Callers therefore write or read the parts one after the
 * other, so that several writes of one row happen in the order of the list.
 */
export const waves = <T>(all: readonly T[], keyOf: (each: T) => string): T[][] => {
  const parts: T[][] = [];
  const seen = new Map<string, number>();
  for (const each of all) {
    const key = keyOf(each);
    const wave = seen.get(key) ?? 0;
    seen.set(key, wave + 1);
    parts[wave] ??= [];
    parts[wave].push(each);
  }
  return parts;
};
