/** Reads the API's lists page by page. */
import { Command } from 'commander';
import pLimit from 'p-limit';
import * as z from 'zod/mini';
import { printJson } from '../../terminal.ts';
import { OPERATIONS, TARGET, type TargetShape } from './answers.ts';
import type { ApiClient } from './api-client.ts';
import { count } from './arguments.ts';

/** Maximum number of items in one response of the API. */
const PAGE_MAX = 100;
/** Number of Targets that are read in parallel. */
export const CONCURRENCY = 8;

/**
 * The first `limit` items of a list, read page by page.
 *
 * @param key name of the list in the response
 * @param shape schema of one item
 * @param path route of the list
 */
export const listed = async <Shape>(
  api: ApiClient,
  key: Key,
  shape: z.ZodMiniType<Shape>,
  query: Record<string, string>,
  limit: number,
  path: string = key,
): Promise<Shape[]> => {
  const all: Shape[] = [];
  let cursor: string | undefined;
  do {
    const page = new URLSearchParams({
      ...query,
      limit: String(Math.min(PAGE_MAX, limit - all.length)),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const { value } = await api.get(`/${path}?${page}`, pageOf(key, shape));
    all.push(...value[key]);
    cursor = value.cursor;
  } while (cursor !== undefined && all.length < limit);
  return all;
};

type Key = 'targets' | 'buckets' | 'tasks' | 'batches' | 'fanOuts' | 'lists' | 'entries';

/** The cast is needed because TypeScript does not infer the type of a computed property name. */
const pageOf = <Shape>(key: Key, shape: z.ZodMiniType<Shape>) =>
  z.looseObject({ [key]: z.array(shape), cursor: z.optional(z.string()) }) as unknown as z.ZodMiniType<
    Readonly<Record<Key, readonly Shape[]>> & { readonly cursor?: string }
  >;

/** The state of all operations. */
export const operationsOf = (api: ApiClient) => api.get('/operations', OPERATIONS);

/** Selects the Targets of an operation, and of these the Targets whose grouping values begin with `prefix`. */
interface TargetSearch {
  readonly operation?: string;
  readonly prefix?: string;
  /** Only Targets whose names contain this text. */
  readonly search?: string;
}

/** The first `limit` Targets. */
export const allTargets = (
  api: ApiClient,
  limit: number,
  { operation, prefix, search }: TargetSearch = {},
): Promise<TargetShape[]> =>
  listed(
    api,
    'targets',
    TARGET,
    {
      ...(operation === undefined ? {} : { operation }),
      ...(prefix === undefined ? {} : { prefix }),
      ...(search === undefined ? {} : { search }),
    },
    limit,
  );

/**
 * Reads a list that the API returns per Target, for one Target or for all Targets. Reads one item more than the limit,
 * to find out whether there are more.
 */
export const ofTargets = async <Shape>(
  api: ApiClient,
  { target, limit }: { readonly target?: string; readonly limit: number },
  key: 'tasks' | 'batches',
  shape: z.ZodMiniType<Shape>,
  query: Record<string, string> = {},
): Promise<Shape[]> => {
  const targets = target === undefined ? await allTargets(api, Number.POSITIVE_INFINITY) : [{ target }];
  const found = await pLimit(CONCURRENCY).map(targets, (each) =>
    listed(api, key, shape, { ...query, target: each.target }, limit + 1),
  );
  return found.flat();
};

/** Reads a list that the API returns per operation, for one operation or for all. Reads as {@link ofTargets} does. */
export const ofOperations = async <Shape>(
  api: ApiClient,
  { operation, limit }: { readonly operation?: string; readonly limit: number },
  key: 'tasks' | 'batches',
  shape: z.ZodMiniType<Shape>,
  query: Record<string, string>,
): Promise<Shape[]> => {
  const names =
    operation === undefined ? (await operationsOf(api)).value.operations.map((each) => each.operation) : [operation];
  const found = await pLimit(CONCURRENCY).map(names, (name) =>
    listed(api, key, shape, { ...query, operation: name }, limit + 1),
  );
  return found.flat();
};

/** A command that prints a list. */
export const listing = (name: string, description: string): Command =>
  new Command(name).description(description).option('--limit <n>', 'maximum number of rows to print', count, 50);

/** Prints the first `limit` items of a list, and whether there are more. */
export const show = <Shape>(
  { json, limit }: { readonly json?: boolean; readonly limit: number },
  name: string,
  all: readonly Shape[],
  tableOf: (shown: readonly Shape[]) => string,
  none: string,
): void => {
  const shown = all.slice(0, limit);
  const more = all.length > limit;
  if (json) console.log(printJson(JSON.stringify({ [name]: shown, ...(more ? { more } : {}) })));
  else console.log(shown.length === 0 ? none : tableOf(shown));
  if (more && !json) console.error(`… and more: only the first ${limit} are shown. To see more, use --limit <n>`);
};
