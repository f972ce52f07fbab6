/** Messages about unknown keys, and about values that zod would drop silently. */
import { isObject } from '../../../util/json-text.ts';
import type { Problem } from '../../../util/problems.ts';
import { nearest } from '../nearest.ts';
import { destinationKeys, downstreamKeys } from './endpoints.ts';
import { secretKeys } from './headers.ts';
import { authKeys, formatKeys } from './http-format.ts';
import { limitKeys } from './limits.ts';
import { operationKeys } from './operation.ts';
import { alarmKeys, fanOutKeys, listKeys, registerKeys } from './sections.ts';

type Path = readonly PropertyKey[];

const ROOT_KEYS = [
  'operations',
  'destinations',
  'limits',
  'producers',
  'producerRules',
  'register',
  'fanOuts',
  'lists',
  'alarms',
  'keepAudit',
];

/** The message about an unknown `key` at `path`, with the nearest known key. */
export const unknownKey = (input: unknown, path: Path, key: string): string => {
  if (key === 'requireResults' && path.length > 0 && kindAt(input, path) === 'queue')
    return 'has no meaning for a queue: its tasks succeed when their message is sent, and no consumer answers';
  if (path[0] === 'operations' && path[2] === 'concurrency' && (key === 'calls' || key === 'weight'))
    return 'belongs to a limit: write limits: {"NAME": {"concurrency": …}} beside operations, and name the limit in the operation. Here are perTarget and total, which count batches';
  const known = knownAt(input, path);
  const meant = nearest(key, known);
  return meant ? `is unknown; did you mean "${meant}"?` : `is unknown; known are ${known.join(', ')}`;
};

const knownAt = (input: unknown, path: Path): readonly string[] => {
  const [section, , ...parts] = path;
  if (section === undefined) return ROOT_KEYS;
  if (section === 'register') return registerKeys;
  if (section === 'fanOuts') return fanOutKeys;
  if (section === 'lists') return listKeys;
  if (section === 'alarms') return alarmKeys;
  if (section === 'limits') return limitKeys[String(parts[0] ?? 'limit')] ?? [];
  const within = section === 'destinations' ? ['destination', ...parts] : parts;
  const [part = 'operation', inside, ...deeper] = within;
  if (part === 'downstream' && inside === 'auth' && deeper.length === 0) return authKeys[kindAt(input, path)] ?? [];
  if (part === 'downstream' && (inside === 'request' || inside === 'response'))
    return formatKeys[[inside, ...deeper].join('.')] ?? [];
  // `inside` is a secret: the secret of the calls, or of one header.
  if (inside !== undefined) return secretKeys;
  if (part === 'downstream') return downstreamKeys[kindAt(input, path)] ?? [];
  if (part === 'destination') return destinationKeys[kindAt(input, path)] ?? [];
  return operationKeys[String(part)] ?? [];
};

const kindAt = (input: unknown, path: Path): string => {
  const at = path.reduce<unknown>((value, name) => (isObject(value) ? value[String(name)] : undefined), input);
  return isObject(at) ? String(at.kind) : '';
};

/** The greatest depth of a configuration: `operations.NAME.downstream.headers.NAME.ssm`. */
const DEPTH = 6;

/**
 * Finds members named `__proto__`, which zod's records drop, and values that are not plain objects (a Map, a Promise),
 * which zod reads as empty. Without this check both would be ignored without a message.
 */
export const passedOver = (value: unknown, path: readonly string[] = []): Problem[] => {
  if (typeof value !== 'object' || value === null || path.length > DEPTH) return [];
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind !== 'Object' && !Array.isArray(value))
    return [{ path: path.join('.'), reason: `must be a plain object such as {…}, not a ${kind}` }];
  return Object.entries(value).flatMap(([name, each]) =>
    name === '__proto__'
      ? [{ path: [...path, name].join('.'), reason: 'is a name that JavaScript reserves: choose another' }]
      : passedOver(each, [...path, name]),
  );
};
