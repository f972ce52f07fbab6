/** The HTTP API of deferred lists, on stores in memory. */
import { api } from '../../src/api/app.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { ListId } from '../../src/domain/lists/ids.ts';
import { listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, NOW } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

export const ISO_NOW = new Date(NOW).toISOString();

/** An operation `ship` with Targets by `depot`, and lists that report their end to `ops`. */
export const listConfig = (): Config => {
  const config = aConfig();
  return {
    ...config,
    destinations: { ops: { kind: 'queue', name: 'ops' } },
    lists: { ...config.lists, callback: 'ops' },
  };
};

export type Answer = Record<string, unknown>;

export const startedLists = (config = listConfig()) => {
  const tables = emptyTables();
  const kit = stepKit(memoryStores(tables), config);
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `new-${ids}`;
  };
  const failures: unknown[] = [];
  const app = api({ ...kit, newId, onError: (cause) => void failures.push(cause) });
  const request = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
    app.request(`/v1/lists${path}`, {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const ask = async (path: string, body?: unknown, method?: string): Promise<Answer> => {
    const response = await request(path, body, method);
    const answer = (await response.json()) as Answer;
    if (failures.length > 0) throw failures[0];
    return { ...answer, code: response.status };
  };
  return {
    kit,
    tables,
    request,
    ask,
    /** Opens a list, and adds jobs `{"depot":"MUC","n":0}`, …, 1,000 in each request. */
    holding: async (count: number, fields: object = {}, id = 'f') => {
      await ask('', { id, ...fields });
      for (let first = 0; first < count; first += 1_000)
        await ask(`/${id}/jobs`, { jobs: someJobs(count).slice(first, first + 1_000) });
    },
    told: () => kit.sent.callbacks.map(({ event }) => JSON.parse(event)),
    /** Has the register function handle its messages until it sends no more to itself. */
    registerAll: async () => {
      for (let at = 0; kit.sent.registered.length > 0; at += 1) {
        const bodies = kit.sent.registered.splice(0);
        await register(
          kit,
          bodies.map((body, n) => ({ messageId: `message-${at}-${n}`, body })),
        );
      }
    },
    stored: (id = 'f') => kit.lists.read(listId(id) as ListId),
    trackerOf: (id = 'f') => trackerOf(listId(id) as ListId),
  };
};

export const someJobs = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: { depot: 'MUC', n } }));
