/** `GET /console/search`: finds operations, Targets, fan-outs, lists and fleets by a part of their names. */
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '../../../src/domain/ids.ts';
import { matching, type Named } from './search.ts';
import { type SearchNames, targetsIn, targetsPath } from './search-names.ts';
import type { Found, FoundGroup, Hit } from './shapes.ts';

/** Finds names. @param isFull whether the user asks for all results, and not for suggestions. */
export type Find = (query: string, isFull: boolean) => Promise<Found>;

/** Maximum number of hits of each kind. */
const [SUGGESTED, LISTED] = [5, 50] as const;
/** How long an answer waits for names that are being read. The page then asks again. */
const PATIENCE: Millis = 1_000;
/** Maximum number of Targets that are read by the beginning of their names, for each operation. */
const BY_PREFIX = 20;

/** The order of the groups. */
const KINDS: readonly Hit['kind'][] = ['task', 'batch', 'operation', 'target', 'fan-out', 'list', 'fleet'];

export const finding =
  (names: SearchNames): Find =>
  async (query, isFull) => {
    await Promise.race([names.read(), setTimeout(PATIENCE, undefined, { ref: false })]);
    const known = names.known();
    const cut = names.isReading() ? [] : known.filter(({ kind, isAll }) => kind === 'target' && !isAll);
    const more =
      isFull && query !== ''
        ? await readFor(
            names,
            query,
            cut.flatMap(({ operation = [] }) => operation),
          )
        : [];
    const all = new Map(
      [...known.flatMap((each) => each.names), ...more].map((each) => [`${each.kind} ${each.id}`, each]),
    );
    const hits = Map.groupBy(query === '' ? [] : matching([...all.values()], query), ({ kind }) => kind);
    const readAt = names.readAt();
    const trouble = names.trouble();
    return {
      query,
      groups: KINDS.flatMap((kind) => groupOf(kind, hits.get(kind) ?? [], isFull ? LISTED : SUGGESTED)),
      searched: known.map(({ kind, operation, names: { length }, isAll }) => ({
        kind,
        ...(operation === undefined ? {} : { operation }),
        names: length,
        isAll,
      })),
      isReading: names.isReading(),
      ...(readAt === undefined ? {} : { readAt }),
      ...(trouble === undefined ? {} : { trouble }),
    };
  };

const groupOf = (kind: Hit['kind'], hits: readonly Hit[], max: number): FoundGroup[] =>
  hits.length === 0 ? [] : [{ kind, hits: hits.slice(0, max), total: hits.length }];

/**
 * Looks up what the known names cannot contain: a task or a batch by its id, and, of operations with more Targets than
 * are known, the Targets that begin with the query.
 */
const readFor = async (
  { get }: SearchNames,
  query: string,
  operations: readonly string[],
): Promise<readonly Named[]> => {
  const named = operations.filter((operation) => query.startsWith(`${operation}/`));
  const prefixes = (named.length > 0 ? named : query.includes('/') ? [] : operations).map(async (operation) => {
    const prefix = named.length > 0 ? query.slice(operation.length + 1) : query;
    return targetsIn(await get(targetsPath(operation, { limit: BY_PREFIX, prefix })));
  });
  const one = query.includes('#') ? lookUp(get, 'batch', query) : query.includes('/') ? [] : lookUp(get, 'task', query);
  return (await Promise.all([one, ...prefixes])).flat();
};

const PATHS = { batch: '/v1/batches', task: '/v1/tasks' } as const;

const lookUp = async (get: SearchNames['get'], kind: keyof typeof PATHS, id: string): Promise<readonly Named[]> =>
  (await get(`${PATHS[kind]}/${encodeURIComponent(id)}`)) === undefined ? [] : [{ kind, id }];
