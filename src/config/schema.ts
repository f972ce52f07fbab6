/**
 * The configuration as people write it, checked: every problem is named with its path in the file and the way out.
 *
 * Not used inside handlers: the full zod would make their bundles ten times as large, and what they read was checked.
 */
import * as z from 'zod';
import { OPERATION_NAME_PATTERN, type OperationName } from '../batching/ids.ts';
import { isObject } from '../batching/json-text.ts';
import type { Parsed, Problem } from '../batching/problems.ts';
import { nearest } from './hints.ts';
import type { Config, Operation } from './resolved.ts';
import { destinationKeys, destinationSchema, downstreamKeys } from './sections/endpoints.ts';
import { operationKeys, operationSchema } from './sections/operation.ts';
import { fault, must, section } from './sections/rules.ts';

const noName = (of: string): string =>
  `is no name for ${of}: begin with a letter, then up to 63 letters, digits, - or _`;
const name = (of: string) => z.string().regex(OPERATION_NAME_PATTERN, { error: noName(of) });

const configSchema = section({
  operations: z
    .record(name('an operation'), operationSchema, must('an object of operations'))
    .refine((operations) => Object.keys(operations).length > 0, { error: 'must name at least one operation' }),
  destinations: z.record(name('a destination'), destinationSchema, must('an object of destinations')).default({}),
}).superRefine(({ operations, destinations }, context) => {
  const known = Object.keys(destinations);
  const are = known.length > 0 ? `; configured are ${known.join(', ')}` : '; there are none under "destinations"';
  for (const [operation, { callbacks }] of Object.entries(operations))
    for (const [outcome, destination] of Object.entries(callbacks))
      if (destination !== null && !known.includes(destination))
        fault(
          context,
          ['operations', operation, 'callbacks', outcome],
          `names an unknown destination, ${JSON.stringify(destination)}${are}`,
        );
});

/** What `groupage.config.ts` exports. Only `target` and `downstream` of an operation are required. */
export type ConfigInput = z.input<typeof configSchema>;

/** Helps an editor to complete and check a configuration; changes nothing. */
export const defineConfig = (config: ConfigInput): ConfigInput => config;

/** Checks a configuration and fills in the defaults; every problem is named with its path and the way out. */
export const parseConfig = (input: unknown): Parsed<Config> => {
  const parsed = configSchema.safeParse(input);
  const problems = [...unseen(input), ...(parsed.success ? [] : parsed.error.issues.flatMap(problemsOf))];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  const { operations, destinations } = parsed.data;
  const resolved = Object.entries(operations).map(([operation, { target, ...rest }]): [string, Operation] => [
    operation,
    { operation: operation as OperationName, keys: target, ...rest },
  ]);
  return { ok: true, value: { version: 1, operations: Object.fromEntries(resolved), destinations } };
};

/** The schema passes over a member of this name, which JSON may have: it would be missing without a word. */
const unseen = (input: unknown): Problem[] => {
  const has = (list: string): boolean => {
    const members = isObject(input) ? input[list] : undefined;
    return isObject(members) && Object.hasOwn(members, '__proto__');
  };
  const fault = (list: string, of: string): Problem[] =>
    has(list) ? [{ path: `${list}.__proto__`, reason: noName(of) }] : [];
  return [...fault('operations', 'an operation'), ...fault('destinations', 'a destination')];
};

const problemsOf = (issue: z.core.$ZodIssue): Problem[] => {
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }];
  if (issue.code !== 'unrecognized_keys') return [{ path, reason: issue.message }];
  return issue.keys.map((key) => ({ path: path ? `${path}.${key}` : key, reason: unknownKey(issue.path, key) }));
};

const unknownKey = (path: readonly PropertyKey[], key: string): string => {
  const known = knownAt(path);
  const meant = nearest(key, known);
  return meant ? `is unknown; did you mean "${meant}"?` : `is unknown; known are ${known.join(', ')}`;
};

const knownAt = ([list, , part]: readonly PropertyKey[]): readonly string[] => {
  if (list === undefined) return Object.keys(configSchema.shape);
  if (list === 'destinations') return destinationKeys;
  if (part === 'downstream') return downstreamKeys;
  return operationKeys[String(part ?? 'operation')] ?? [];
};
