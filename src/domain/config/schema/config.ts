/**
 * The configuration as people write it, checked: every problem is named with its path in the file and the way out. How
 * values go together is looked at once each of them is right.
 *
 * Not used inside handlers: the full zod would make their bundles ten times as large, and what they read was checked.
 */
import * as z from 'zod';
import type { Parsed, Problem } from '../../../util/problems.ts';
import { OPERATION_NAME_PATTERN, type OperationName } from '../../ids.ts';
import type { Config, Operation } from '../resolved.ts';
import { operationSchema } from './combinations.ts';
import { destinationSchema } from './endpoints.ts';
import { fault, mustUnseen, section } from './rules.ts';
import { alarmsSchema, fanOutsSchema, listsSchema, registerSchema } from './sections.ts';
import { passedOver, unknownKey } from './unknown-keys.ts';

const name = (of: string) =>
  z.string().regex(OPERATION_NAME_PATTERN, {
    error: `is no name for ${of}: begin with a letter, then up to 63 letters, digits, - or _`,
  });

export const configSchema = section(
  {
    // Where an editor finds how to complete the file; nothing of ours.
    $schema: z.string(mustUnseen('the address of a schema')).optional(),
    operations: z
      .record(name('an operation'), operationSchema, mustUnseen('an object of operations by their names'))
      .refine((operations) => Object.keys(operations).length > 0, { error: 'must name at least one operation' })
      .meta({ minProperties: 1 }),
    destinations: z
      .record(name('a destination'), destinationSchema, mustUnseen('an object of destinations by their names'))
      .default({}),
    register: registerSchema,
    fanOuts: fanOutsSchema,
    lists: listsSchema,
    alarms: alarmsSchema,
  },
  'an object with "operations"',
).superRefine(({ operations, destinations, fanOuts, lists }, context) => {
  const known = Object.keys(destinations);
  const are = known.length > 0 ? `configured are ${known.join(', ')}` : 'there are none under "destinations"';
  const mustBeKnown = (path: readonly string[], destination: string | null): void => {
    if (destination !== null && !known.includes(destination))
      fault(context, path, `names an unknown destination, ${JSON.stringify(destination)}: ${are}`);
  };
  for (const [operation, { callbacks }] of Object.entries(operations))
    for (const [outcome, destination] of Object.entries(callbacks))
      mustBeKnown(['operations', operation, 'callbacks', outcome], destination);
  mustBeKnown(['fanOuts', 'callback'], fanOuts.callback);
  mustBeKnown(['lists', 'callback'], lists.callback);
});

/** What `groupage.config.ts` exports. Only `target` and `downstream` of an operation are required. */
export type ConfigInput = z.input<typeof configSchema>;

/** Helps an editor to complete and check a configuration; changes nothing. */
export const defineConfig = (config: ConfigInput): ConfigInput => config;

/** Checks a configuration and fills in the defaults; every problem is named with its path and the way out. */
export const parseConfig = (input: unknown): Parsed<Config> => {
  const parsed = configSchema.safeParse(input);
  const found = parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, input));
  const named = new Set(found.map(({ path }) => path));
  const problems = [...passedOver(input).filter(({ path }) => !named.has(path)), ...found];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  const { operations, $schema: _, ...rest } = parsed.data;
  const resolved = Object.entries(operations).map(([operation, { target, ...others }]): [string, Operation] => [
    operation,
    { operation: operation as OperationName, keys: target, ...others },
  ]);
  return { ok: true, value: { version: 1, operations: Object.fromEntries(resolved), ...rest } };
};

const problemsOf = (issue: z.core.$ZodIssue, input: unknown): Problem[] => {
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }];
  if (issue.code !== 'unrecognized_keys') return [{ path, reason: issue.message }];
  return issue.keys.map((key) => ({
    path: path ? `${path}.${key}` : key,
    reason: unknownKey(input, issue.path, key),
  }));
};
