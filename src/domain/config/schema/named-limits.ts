/** The limits that operations name: their names, and whether the calls of an operation fit into them. */
import * as z from 'zod';
import { OPERATION_NAME_PATTERN } from '../../ids.ts';
import type { DownstreamTarget } from '../endpoints.ts';
import type { Limit } from '../limits.ts';
import { nearest } from '../nearest.ts';
import { fault, must, text } from './rules.ts';

/** A call takes its limits one after the other, so each of them delays it. */
const LIMITS_MAX = 5;

export const limitNamesSchema = z
  .array(
    text(OPERATION_NAME_PATTERN, 'the name of one of the "limits"'),
    must('a list of names of "limits", [] for none'),
  )
  .superRefine((names, context) => {
    if (names.length > LIMITS_MAX) fault(context, [], `must name at most five limits, not ${names.length}`);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) fault(context, [], `must not name a limit twice: ${JSON.stringify(twice)}`);
  })
  .meta({ maxItems: LIMITS_MAX, uniqueItems: true })
  .default([]);

type Limits = Readonly<Record<string, Limit>>;

/** The values of an operation that its limits have to fit. */
interface Limited {
  readonly target: readonly string[];
  readonly shards: number;
  readonly batch: { readonly maxWeight: number };
  readonly downstream: DownstreamTarget;
  readonly limits: readonly string[];
}

/** Reports a problem at a path within the operation. */
type Report = (path: readonly string[], message: string) => void;

/** Reports unknown limits, and limits that do not fit the operations that name them. */
export const checkLimits = (
  operations: Readonly<Record<string, Limited>>,
  limits: Limits,
  context: z.RefinementCtx,
): void => {
  for (const [name, operation] of Object.entries(operations)) {
    const report: Report = (path, message) => fault(context, ['operations', name, ...path], message);
    for (const check of [checkNames, checkKeys, checkShards, checkWeight, checkUsage]) check(operation, limits, report);
  }
};

type Check = (operation: Limited, limits: Limits, report: Report) => void;

const checkNames: Check = (operation, limits, report) => {
  const known = Object.keys(limits);
  const are = known.length > 0 ? `configured are ${known.join(', ')}` : 'none is configured under "limits"';
  for (const [index, name] of operation.limits.entries()) {
    if (Object.hasOwn(limits, name)) continue;
    const meant = nearest(name, known);
    report(
      ['limits', String(index)],
      `names an unknown limit, ${JSON.stringify(name)}: ${are}${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
    );
  }
};

/** The configured limits that an operation names, each with its index in the operation's list. */
const limitsOf = (operation: Limited, limits: Limits) =>
  operation.limits.flatMap((name, index) => {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    return limit ? [{ name, index, limit }] : [];
  });

const checkKeys: Check = (operation, limits, report) => {
  for (const { name, index, limit } of limitsOf(operation, limits)) {
    if (limit.key === null || limit.key === 'target') continue;
    for (const field of limit.key.filter((each) => !operation.target.includes(each)))
      report(
        ['limits', String(index)],
        `names the limit "${name}", whose key has the field ${JSON.stringify(field)}, which is not in target: add it to target, or remove it from limits.${name}.key`,
      );
  }
};

const checkShards: Check = (operation, limits, report) => {
  if (operation.shards === 1) return;
  const byTarget = limitsOf(operation, limits).find(({ limit }) => limit.key === 'target');
  if (byTarget)
    report(
      ['shards'],
      `must be 1 with the limit "${byTarget.name}", whose key is "target": each shard would have a bucket of its own. Leave shards out, or list the fields of target in limits.${byTarget.name}.key`,
    );
};

const checkWeight: Check = (operation, limits, report) => {
  const [lowest] = limitsOf(operation, limits)
    .flatMap(({ name, limit }) => [
      { of: `limits.${name}.weight`, most: limit.weight },
      { of: `limits.${name}.concurrency.weight`, most: limit.concurrency.weight },
    ])
    .flatMap(({ of, most }) => (most === null ? [] : [{ of, most }]))
    .sort((a, b) => a.most - b.most);
  const { maxWeight } = operation.batch;
  if (lowest === undefined) return;
  const { of, most } = lowest;
  if (maxWeight === 0)
    report(
      ['batch', 'maxWeight'],
      `must be set, to at most ${most} (${of}): otherwise one call could exceed the limit alone. Set it, or remove the limit from limits`,
    );
  else if (maxWeight > most)
    report(
      ['batch', 'maxWeight'],
      `must not be more than ${most} (${of}): otherwise one call could exceed the limit alone. Lower maxWeight, or raise the limit`,
    );
};

const checkUsage: Check = (operation, limits, report) => {
  const { downstream } = operation;
  if (downstream.kind !== 'http' || downstream.usageHeader === null) return;
  const named = limitsOf(operation, limits);
  // An unknown limit may be one with a weight whose name has a typing error.
  if (named.length < operation.limits.length || named.some(({ limit }) => limit.weight !== null)) return;
  report(
    ['downstream', 'usageHeader'],
    'has an effect only with a limit that has weight: name one in limits, or leave usageHeader out',
  );
};
