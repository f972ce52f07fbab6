/**
 * The size of a row in bytes, as DynamoDB counts it for capacity units:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
import type { Item } from './item.ts';

/** Bytes for a list or a map, and for each of its elements. */
const [COLLECTION, ELEMENT] = [3, 1];

/** @param row of strings, numbers, booleans, lists, sets and maps */
export const itemSize = (row: Item): number =>
  Object.entries(row).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0);

const valueSize = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberSize(value);
  if (value instanceof Set) return [...value].reduce((sum, each) => sum + valueSize(each), 0);
  if (Array.isArray(value)) return value.reduce((sum, each) => sum + ELEMENT + valueSize(each), COLLECTION);
  if (typeof value === 'object' && value !== null)
    return COLLECTION + Object.keys(value).length * ELEMENT + itemSize(value as Item);
  return 1;
};

/** One byte for two significant digits, one more, and one for a minus sign. */
const numberSize = (value: number): number => {
  const digits = Math.abs(value)
    .toString()
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
};

/** Write units: one for each started KB of the row. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1_024));

/**
 * Read units: one for each started 4 KB of a strongly consistent read, half of that for an eventually consistent one.
 */
export const readUnits = (bytes: number, isStrong = true): number =>
  Math.max(1, Math.ceil(bytes / 4_096)) * (isStrong ? 1 : 0.5);
