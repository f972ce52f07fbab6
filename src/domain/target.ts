/**
 * Which tasks may share a batch: the Target, computed from the operation's grouping keys and the payload.
 */

import type { Problem } from '../util/problems.ts';
import { digest, type OperationName, TARGET_MAX_BYTES, type Target, type TaskId } from './ids.ts';

/** How an operation's tasks are told apart. */
export interface Grouping {
  readonly operation: OperationName;
  /** Payload keys whose values a batch shares, in order; a dot walks into an object (`route.origin`). May be empty. */
  readonly keys: readonly string[];
  /** Into how many Targets of their own a hot Target is split; 1 is not at all. */
  readonly shards: number;
}

/** The Target of a payload, or what is wrong with its grouping values. */
export const targetOf = (grouping: Grouping, payload: object, id: TaskId): Target | Problem[] => {
  const parts: string[] = [grouping.operation];
  const problems: Problem[] = [];
  for (const key of grouping.keys) {
    const value = groupingValue(payload, key);
    if (typeof value === 'string') parts.push(`${encoded(key)}=${encoded(value)}`);
    else problems.push(value);
  }
  if (problems.length > 0) return problems;
  const target = parts.join('/') + shardSuffix(grouping.shards, id);
  // Percent-encoding leaves ASCII only: characters are bytes.
  if (target.length <= TARGET_MAX_BYTES) return target as Target;
  const reason = `the Target made of ${grouping.keys.join(', ')} has ${target.length} bytes, at most ${TARGET_MAX_BYTES} are allowed; group by a shorter value`;
  return [{ path: 'payload', reason }];
};

/** `~` is encoded too: it introduces the shard. */
const encoded = (text: string): string => encodeURIComponent(text).replaceAll('~', '%7E');

const groupingValue = (payload: object, key: string): string | Problem => {
  const path = `payload.${key}`;
  const value = key.split('.').reduce<unknown>(ownValue, payload);
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : { path, reason: 'has half of a surrogate pair; send well-formed text' };
    case 'boolean':
      return String(value);
    case 'number':
      // Beyond 2^53 two different numbers would read as one and their tasks would share a batch; beyond 10^308 all do.
      return Math.abs(value) > Number.MAX_SAFE_INTEGER
        ? { path, reason: 'is too large a number to be told apart exactly; send it as a string' }
        : String(value);
    case 'undefined':
      return { path, reason: 'is missing; the operation groups its tasks by it' };
    default:
      return { path, reason: 'must be a string, a number or a boolean, since tasks are grouped by it' };
  }
};

/** Own properties only: `constructor` or `__proto__` of a payload are no grouping values. */
const ownValue = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const shardSuffix = (shards: number, id: TaskId): string =>
  shards > 1 ? `~${Buffer.from(digest(id), 'base64url').readUInt32BE() % shards}` : '';
