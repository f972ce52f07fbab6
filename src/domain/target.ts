/**
 * Which tasks may share a batch: those of one Target. The Target is computed from the operation's grouping keys and the
 * payload, and for a sharded operation from the task's id as well. It depends on nothing else, so a task that is
 * registered again gets the same Target.
 */

import { isReadExactly } from '../util/json-number.ts';
import type { Problem } from '../util/problems.ts';
import { digest, type OperationName, TARGET_MAX_BYTES, type Target, type TaskId } from './ids.ts';

/** How an operation's tasks are grouped into Targets. */
export interface Grouping {
  readonly operation: OperationName;
  /**
   * Payload keys whose values the tasks of a batch share, in order. A dot selects a member of an object
   * (`route.origin`). May be empty.
   */
  readonly keys: readonly string[];
  /** The number of Targets into which a hot Target is split; 1 means that it is not split. */
  readonly shards: number;
}

/** The Target of a payload, or what is wrong with its grouping values. @param text of the payload, as it was sent */
export const targetOf = (grouping: Grouping, payload: object, id: TaskId, text: string): Target | Problem[] => {
  const parts: string[] = [grouping.operation];
  const problems: Problem[] = [];
  for (const key of grouping.keys) {
    const value = groupingValue(payload, key, text);
    if (typeof value === 'string') parts.push(`${encoded(key)}=${encoded(value)}`);
    else problems.push(value);
  }
  if (problems.length > 0) return problems;
  const target = parts.join('/') + shardSuffix(grouping.shards, id);
  // Percent-encoding leaves only ASCII, so the number of characters is the number of bytes.
  if (target.length <= TARGET_MAX_BYTES) return target as Target;
  const reason = `the Target made of ${grouping.keys.join(', ')} has ${target.length} bytes, at most ${TARGET_MAX_BYTES} are allowed; group by a shorter value`;
  return [{ path: 'payload', reason }];
};

/** A name or value in a Target. Encodes `~` as well, because it begins the shard's suffix. */
export const encoded = (text: string): string => encodeURIComponent(text).replaceAll('~', '%7E');

/** The grouping fields of a Target, and their values, as they are encoded in it. */
export const fieldsOf = (target: Target): ReadonlyMap<string, string> =>
  new Map(
    target
      .replace(/~\d+$/, '')
      .split('/')
      .slice(1)
      .map((part) => {
        const end = part.indexOf('=');
        return [part.slice(0, end), part.slice(end + 1)] as const;
      }),
  );

/** The grouping fields of a Target, and their values. */
export const valuesIn = (target: Target): ReadonlyMap<string, string> =>
  new Map([...fieldsOf(target)].map(([name, value]) => [decodeURIComponent(name), decodeURIComponent(value)]));

const groupingValue = (payload: object, key: string, text: string): string | Problem => {
  const path = `payload.${key}`;
  const names = key.split('.');
  const value = names.reduce<unknown>(ownValue, payload);
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : { path, reason: 'has half of a surrogate pair; send well-formed text' };
    case 'boolean':
      return String(value);
    case 'number':
      // Two different numbers could be read as the same value. Their tasks would then share a batch.
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
        return { path, reason: 'is a number beyond 2^53, which cannot be read exactly; send it as a string' };
      return isReadExactly(text, names)
        ? String(value)
        : { path, reason: 'is a number with too many digits to be read exactly; send it as a string' };
    case 'undefined':
      return { path, reason: 'is missing; the operation groups its tasks by it' };
    default:
      return { path, reason: 'must be a string, a number or a boolean, because tasks are grouped by it' };
  }
};

/** Inherited names such as `constructor` or `__proto__` are no grouping values. */
const ownValue = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const shardSuffix = (shards: number, id: TaskId): string =>
  shards > 1 ? `~${Buffer.from(digest(id), 'base64url').readUInt32BE() % shards}` : '';
