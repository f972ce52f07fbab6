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

/** Bytes of a number: one for every two significant digits, plus one, and one for a minus sign. */
const numberSize = (value: number): number => {
  const digits = Math.abs(value)
    .toString()
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
};

/** Write units: one for each KB of the row, rounded up. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1_024));

/**
 * Read units of a strongly consistent read: one for each 4 KB, rounded up. An eventually consistent read costs half of
 * that.
 */
export const readUnits = (bytes: number, isStrong = true): number =>
  Math.max(1, Math.ceil(bytes / 4_096)) * (isStrong ? 1 : 0.5);
