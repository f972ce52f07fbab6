/** A page's cursor: DynamoDB's last key, opaque to whoever passes it on. */
import { InvalidCursor } from '../ports/rows.ts';

/** A key's attributes by name. */
export type Key = Readonly<Record<string, unknown>>;

export const printCursor = (key: Key | undefined): { readonly cursor?: string } =>
  key ? { cursor: Buffer.from(JSON.stringify(key)).toString('base64url') } : {};

/** The attributes of the key that a page of a list ends with, and the type of each. */
export type KeyShape = Readonly<Record<string, 'string' | 'number'>>;

/**
 * @param list what all of the list's keys share.
 * @throws InvalidCursor
 */
export const parseCursor = (cursor: string | undefined, shape: KeyShape, list: Key): Key | undefined => {
  if (cursor === undefined) return undefined;
  const key = decode(cursor);
  const isKey =
    key !== undefined &&
    Object.keys(key).length === Object.keys(shape).length &&
    Object.entries(shape).every(([name, type]) => isOf(type, key[name])) &&
    Object.entries(list).every(([name, value]) => key[name] === value);
  if (!isKey) throw new InvalidCursor();
  return key;
};

/** The longest sort key, and longer than any key of ours. */
const KEY_MAX_BYTES = 1_024;

const isOf = (type: KeyShape[string], value: unknown): boolean =>
  type === 'string'
    ? typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= KEY_MAX_BYTES
    : Number.isSafeInteger(value);

/** What DynamoDB and the engines say of every key that they refuse, whatever they go on with. */
const REFUSED_KEY = /provided starting key/i;

/**
 * Whether a key that looks like one is one of this list, DynamoDB decides. What else it refuses of a query is no
 * cursor's fault.
 *
 * @throws InvalidCursor when it refuses the key that a page begins behind.
 */
export const fromCursor = async <T>(cursor: string | undefined, query: Promise<T>): Promise<T> => {
  try {
    return await query;
  } catch (cause) {
    const isRefusal = cause instanceof Error && cause.name === 'ValidationException' && REFUSED_KEY.test(cause.message);
    throw cursor !== undefined && isRefusal ? new InvalidCursor() : cause;
  }
};

const decode = (cursor: string): Key | undefined => {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return typeof key === 'object' && key !== null && !Array.isArray(key) ? (key as Key) : undefined;
  } catch {
    // Not JSON: not a key, which the caller says.
    return undefined;
  }
};
