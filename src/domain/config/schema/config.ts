/**
 * Checks the configuration file. Each problem carries its path in the file and says what to do. Combinations of values
 * are checked only if each value is valid alone.
 *
 * Handlers do not import this: the full zod would make their bundles ten times as large, and their configuration was
 * checked at synth.
 */
import * as z from 'zod';
import type { Parsed, Problem } from '../../../util/problems.ts';
import { type LimitName, OPERATION_NAME_PATTERN, type OperationName } from '../../ids.ts';
import { type Config, KEEP_AUDIT, type Operation } from '../resolved.ts';
import { operationSchema } from './combinations.ts';
import { destinationSchema, requiredOf } from './endpoints.ts';
import { limitsSchema } from './limits.ts';
import { checkLimits } from './named-limits.ts';
import { checkRules, modeSchema, producersSchema } from './producers.ts';
import { DAY, duration, fault, mustUnseen, section } from './rules.ts';
import { alarmsSchema, fanOutsSchema, listsSchema, registerSchema } from './sections.ts';
import { sourcesOf } from './sources.ts';
import { passedOver, unknownKey } from './unknown-keys.ts';

const name = (of: string) =>
  z.string().regex(OPERATION_NAME_PATTERN, {
    error: `is not a valid name for ${of}: begin with a letter, then up to 63 letters, digits, - or _`,
  });

export const configSchema = section(
  {
    // Read by editors only.
    $schema: z.string(mustUnseen('the address of a schema')).optional(),
    operations: z
      .record(name('an operation'), operationSchema, mustUnseen('an object with operation names as keys'))
      .refine((operations) => Object.keys(operations).length > 0, { error: 'must name at least one operation' })
      .meta({ minProperties: 1 }),
    destinations: z
      .record(name('a destination'), destinationSchema, mustUnseen('an object with destination names as keys'))
      .default({}),
    limits: limitsSchema,
    producers: producersSchema,
    producerRules: modeSchema,
    register: registerSchema,
    fanOuts: fanOutsSchema,
    lists: listsSchema,
    alarms: alarmsSchema,
    keepAudit: duration(DAY, 3_650 * DAY).default(KEEP_AUDIT),
  },
  'an object with "operations"',
).superRefine(({ operations, destinations, limits, producers, fanOuts, lists }, context) => {
  const known = Object.keys(destinations);
  const are = known.length > 0 ? `configured are ${known.join(', ')}` : 'none is configured under "destinations"';
  const mustBeKnown = (path: readonly string[], destination: string | null): void => {
    if (destination !== null && !known.includes(destination))
      fault(context, path, `names an unknown destination, ${JSON.stringify(destination)}: ${are}`);
  };
  for (const [operation, { callbacks }] of Object.entries(operations))
    for (const [outcome, destination] of Object.entries(callbacks))
      mustBeKnown(['operations', operation, 'callbacks', outcome], destination);
  mustBeKnown(['fanOuts', 'callback'], fanOuts.callback);
  mustBeKnown(['lists', 'callback'], lists.callback);
  checkLimits(operations, limits, context);
  checkRules(operations, producers, context);
});

/** The type of the default export of `groupage.config.ts`. Of an operation only `target` and `downstream` are required. */
export type ConfigInput = z.input<typeof configSchema>;

/** Returns its argument unchanged; gives editors the type for completion and checks. */
export const defineConfig = (config: ConfigInput): ConfigInput => config;

/** Checks a configuration and fills in the defaults. Each problem has its path and says what to do. */
export const parseConfig = (input: unknown): Parsed<Config> => {
  const parsed = configSchema.safeParse(input);
  const found = parsed.success ? [] : parsed.error.issues.flatMap((issue) => problemsOf(issue, input));
  const named = new Set(found.map(({ path }) => path));
  const problems = [...passedOver(input).filter(({ path }) => !named.has(path)), ...found];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  const { operations, $schema: _, ...rest } = parsed.data;
  const resolved = Object.entries(operations).map(([name, parsedOne]) => resolvedFrom(name, parsedOne));
  const value = {
    version: 1 as const,
    operations: Object.fromEntries(resolved.map((each) => [each.operation, each])),
    sources: Object.fromEntries(resolved.map((each) => [each.operation, sourcesOf(input, each, bareOf(each))])),
    ...rest,
  };
  return { ok: true, value };
};

const resolvedFrom = (name: string, { target, limits, ...others }: z.output<typeof operationSchema>): Operation => ({
  operation: name as OperationName,
  keys: target,
  // The checks need the list as it is written, because the paths of its problems have an index.
  limits: limits.toSorted() as LimitName[],
  ...others,
});

/** The same operation with its required settings alone: all others have their built-in defaults. */
const bareOf = ({ operation, keys, downstream }: Operation): Operation =>
  resolvedFrom(operation, operationSchema.parse({ target: keys, downstream: requiredOf(downstream) }));

const problemsOf = (issue: z.core.$ZodIssue, input: unknown): Problem[] => {
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }];
  if (issue.code !== 'unrecognized_keys') return [{ path, reason: issue.message }];
  return issue.keys.map((key) => ({
    path: path ? `${path}.${key}` : key,
    reason: unknownKey(input, issue.path, key),
  }));
};
