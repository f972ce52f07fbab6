/** Cursors of pages: DynamoDB's last key, opaque to the caller. */
import { InvalidCursor } from '../ports/rows.ts';

/** The attributes of a key, by name. */
export type Key = Readonly<Record<string, unknown>>;

export const printCursor = (key: Key | undefined): { readonly cursor?: string } =>
  key ? { cursor: Buffer.from(JSON.stringify(key)).toString('base64url') } : {};

/** The attributes, with their types, of the key at the end of a page. */
export type KeyShape = Readonly<Record<string, 'string' | 'number'>>;

/**
 * Parses a cursor.
 *
 * @param list attributes that all keys of the list share
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

/** Longest sort key of DynamoDB, in bytes. All keys of this project are shorter. */
const KEY_MAX_BYTES = 1_024;

const isOf = (type: KeyShape[string], value: unknown): boolean =>
  type === 'string'
    ? typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= KEY_MAX_BYTES
    : Number.isSafeInteger(value);

/** This text is in every error with which DynamoDB and its emulators refuse a start key. */
const REFUSED_KEY = /provided starting key/i;

/**
 * Runs a query that starts at a cursor. DynamoDB decides whether a well-formed key belongs to the list. If DynamoDB
 * refuses a query for another reason, the cursor is not at fault.
 *
 * @throws InvalidCursor if DynamoDB refuses the start key
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
    // The text is not JSON, so it is not a key. The caller throws InvalidCursor.
    return undefined;
  }
};
