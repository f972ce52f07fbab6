/**
 * How many bytes a row has, as DynamoDB counts them for capacity units:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
import type { Item } from './item.ts';

/** A list or a map, and each of its elements. */
const [COLLECTION, ELEMENT] = [3, 1];

/** @param row of texts, numbers, flags, lists, sets and maps */
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

/** One byte for two digits, zeros in front and behind apart, and one more. */
const numberSize = (value: number): number => {
  const digits = Math.abs(value)
    .toString()
    .replace('.', '')
    .replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
};

/** A write takes a unit for each KB of the row, begun or whole. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1_024));

/** A strongly consistent read takes a unit for every 4 KB, another one half of that. */
export const readUnits = (bytes: number, isStrong = true): number =>
  Math.max(1, Math.ceil(bytes / 4_096)) * (isStrong ? 1 : 0.5);
