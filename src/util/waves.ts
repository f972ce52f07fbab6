/**
 * Splits a list so that no part has two elements of one key; mostly there is one part. Elements of one key stay in their order.
 *
 * DynamoDB refuses a whole request that names one row twice. So many rows are written or read in parts, one after the
 * other, and several writes of one row happen in the order asked.
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
