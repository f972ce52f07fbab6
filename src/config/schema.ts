/**
 * The configuration as people write it: what is allowed, what is assumed, and what is wrong with it in words.
 *
 * Checked at synth, at start and by `groupage check`. The handlers get the {@link Config} that comes out of it.
 */
import * as z from 'zod';
import { type Millis, OPERATION_NAME_PATTERN, type OperationName } from '../batching/ids.ts';
import { isObject } from '../batching/json-text.ts';
import type { Parsed, Problem } from '../batching/problems.ts';
import { MINUTE } from '../batching/timings.ts';
import { type Duration, parseDuration, printDuration } from './duration.ts';
import { laterKeys, nearest } from './hints.ts';
import { attemptTime, type Config, type Operation } from './resolved.ts';

const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;
/** Lambda ends any function after this long. */
const LAMBDA_MAX: Millis = 15 * MINUTE;

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
const must = (be: string) => ({ error: ({ input }: { input?: unknown }) => `must be ${be}, not ${show(input)}` });

const whole = (least: number, most: number) => {
  const within = (value: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  // One rule, one problem: whatever is wrong with it.
  return z.custom<number>(
    (value) => typeof value === 'number' && within(value),
    must(`a whole number from ${least} to ${most}`),
  );
};

const duration = (least: Millis, most: Millis) => {
  const rule = `a duration from "${printDuration(least)}" to "${printDuration(most)}", such as "500ms", "1s", "5m", "2h" or "30d"`;
  const within = (span: Millis | undefined): boolean => span !== undefined && span >= least && span <= most;
  return z
    .custom<Duration>((text) => typeof text === 'string' && within(parseDuration(text)), must(rule))
    .transform((text): Millis => parseDuration(text) ?? 0);
};

const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.strictObject(shape, must('an object'));

const batchSchema = section({
  maxSize: whole(1, 1_000).default(100),
  maxBytes: whole(1_000, 6_000_000).default(900_000),
  maxWait: duration(0, 7 * DAY).default(1_000),
});

const httpSchema = section({
  kind: z.literal('http', must('"http"')),
  url: z.string(must('a URL')).superRefine(checkUrl),
  // Node's fetch gives up by itself after five minutes without an answer.
  timeout: duration(100, 4 * MINUTE).default(10_000),
});

const retrySchema = section({
  immediate: whole(0, 10).default(1),
  maxAttempts: whole(1, 100).default(5),
  minDelay: duration(0, DAY).default(1_000),
  maxDelay: duration(0, DAY).default(5 * MINUTE),
});

const operationSchema = section({
  target: z
    .array(
      z.string(must('the name of a payload field')).min(1, must('the name of a payload field')),
      must('a list of payload fields'),
    )
    .max(10, must('at most ten payload fields'))
    .refine((keys) => new Set(keys).size === keys.length, must('a list without repetitions')),
  batch: batchSchema.prefault({}),
  downstream: httpSchema,
  retry: retrySchema.prefault({}),
  shards: whole(1, 1_000).default(1),
  keepTasks: duration(HOUR, 3_650 * DAY).default(30 * DAY),
}).superRefine(({ downstream, retry, keepTasks }, context) => {
  if (retry.minDelay > retry.maxDelay)
    context.addIssue({
      code: 'custom',
      path: ['retry', 'minDelay'],
      message: 'must not be longer than retry.maxDelay',
    });
  const attempt = attemptTime(downstream.timeout, retry.immediate);
  if (keepTasks < retry.maxAttempts * (retry.maxDelay + attempt))
    context.addIssue({
      code: 'custom',
      path: ['keepTasks'],
      message: `must be at least retry.maxAttempts × (retry.maxDelay + ${printDuration(attempt)} for an attempt): a batch must not outlive the results of its first attempts`,
    });
  if (attempt > LAMBDA_MAX)
    context.addIssue({
      code: 'custom',
      path: ['downstream', 'timeout'],
      message: `is too long for ${retry.immediate + 1} calls in one function: timeout × (retry.immediate + 1) + 10 s must stay within 15 minutes; lower one of them`,
    });
});

const NO_NAME = 'is no name for an operation: begin with a letter, then up to 63 letters, digits, - or _';

const operationsSchema = z
  .record(
    z.string().regex(OPERATION_NAME_PATTERN, {
      error: NO_NAME,
    }),
    operationSchema,
    must('an object of operations'),
  )
  .refine((operations) => Object.keys(operations).length > 0, { error: 'must name at least one operation' });

const configSchema = section({ operations: operationsSchema });

function checkUrl(text: string, context: z.RefinementCtx<string>): void {
  const url = URL.parse(text);
  const fault = (message: string) => context.addIssue({ code: 'custom', message });
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    // Not shown: what is wrong with it may be a password.
    fault('must be an http or https URL such as https://parcels.example/batch');
  // A configuration is committed and logged: it is no place for a password.
  else if (url.username || url.password) fault('must not contain a user name or password');
}

/** What `groupage.config.ts` exports. Only `target` and `downstream` are required. */
export type ConfigInput = z.input<typeof configSchema>;

/** Helps an editor to complete and check a configuration; changes nothing. */
export const defineConfig = (config: ConfigInput): ConfigInput => config;

/** Checks a configuration and fills in the defaults; every problem is named with its path and the way out. */
export const parseConfig = (input: unknown): Parsed<Config> => {
  const parsed = configSchema.safeParse(input);
  const problems = [...unseen(input), ...(parsed.success ? [] : parsed.error.issues.flatMap(problemsOf))];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };
  const operations = Object.entries(parsed.data.operations).map(([name, { target, ...rest }]): [string, Operation] => [
    name,
    { operation: name as OperationName, keys: target, ...rest },
  ]);
  return { ok: true, value: { version: 1, operations: Object.fromEntries(operations) } };
};

/** The schema passes over a member of this name, which JSON may have: the operation would be missing without a word. */
const unseen = (input: unknown): Problem[] => {
  const operations = isObject(input) ? input.operations : undefined;
  return isObject(operations) && Object.hasOwn(operations, '__proto__')
    ? [{ path: 'operations.__proto__', reason: NO_NAME }]
    : [];
};

const problemsOf = (issue: z.core.$ZodIssue): Problem[] => {
  const path = issue.path.join('.');
  if (issue.code === 'invalid_key') return [{ path, reason: issue.issues[0]?.message ?? issue.message }];
  if (issue.code !== 'unrecognized_keys') return [{ path, reason: issue.message }];
  return issue.keys.map((key) => ({ path: path ? `${path}.${key}` : key, reason: unknownKey(issue.path, key) }));
};

const unknownKey = (path: readonly PropertyKey[], key: string): string => {
  if (laterKeys.has(key)) return 'is not supported by this version: remove it';
  const known = knownKeys[path.length === 0 ? '' : path.length === 2 ? 'operation' : String(path[2])] ?? [];
  const meant = nearest(key, known);
  return meant ? `is unknown; did you mean "${meant}"?` : `is unknown; known are ${known.join(', ')}`;
};

const knownKeys: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(configSchema.shape),
  operation: Object.keys(operationSchema.shape),
  batch: Object.keys(batchSchema.shape),
  downstream: Object.keys(httpSchema.shape),
  retry: Object.keys(retrySchema.shape),
};
