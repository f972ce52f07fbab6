/** For the tests of fan-outs: the API on stores in memory. */
import { api } from '../../src/api/app.ts';
import { NOW } from '../factories/factories.ts';
import { reportingOps } from '../fan-out/kit.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

export const ISO_NOW = new Date(NOW).toISOString();

/** An API whose fan-outs report their end to `ops`. */
export const started = () => {
  const kit = stepKit(memoryStores(), reportingOps());
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `new-${ids}`;
  };
  const app = api({ ...kit, newId, onError: (cause) => console.error(cause) });
  const request = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
    app.request(`/v1/fan-outs${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const ask = async (path: string, body?: unknown, method?: string) => {
    const response = await request(path, body, method);
    return { ...((await response.json()) as Record<string, unknown>), code: response.status } as Record<
      string,
      unknown
    >;
  };
  const told = () => kit.sent.callbacks.map(({ event }) => JSON.parse(event));
  return { kit, request, ask, told };
};

/** The state of a new fan-out. */
export const SOME = { status: 'open', total: 0, succeeded: 0, failed: 0, pending: 0, createdAt: ISO_NOW };
