/** The HTTP API on a socket, with stores in memory, and with lost answers and errors that a test chooses. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { monotonicFactory } from 'ulid';
import { api } from '../../src/api/app.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { reportingOps } from '../fan-out/kit.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

/** The fate of a request: done with a lost answer, lost, or answered with this status. */
type Fate = 'answer-lost' | 'request-lost' | number;

export interface ServedApi {
  readonly url: string;
  readonly kit: StepKit;
  /** Method, path and body of each request, in the order of their arrival. */
  readonly asked: { readonly method: string; readonly path: string; readonly body: Record<string, unknown> }[];
  /** The fate of a request that arrives for the `n`th time, from 1; undefined handles it normally. */
  fate: (n: number, request: string) => Fate | undefined;
  stop(): Promise<void>;
}

export const servedApi = async (): Promise<ServedApi> => {
  const kit = stepKit(memoryStores(emptyTables()), reportingOps());
  const app = api({ ...kit, newId: monotonicFactory(), onError: (cause) => console.error(cause) });
  const asked: ServedApi['asked'] = [];
  const times = new Map<string, number>();
  const timesOf = (request: string): number => {
    times.set(request, (times.get(request) ?? 0) + 1);
    return times.get(request) as number;
  };
  const server = createServer(
    getRequestListener(async (request, { incoming }) => {
      const text = await request.clone().text();
      const { pathname: path } = new URL(request.url);
      asked.push({ method: request.method, path, body: text === '' ? {} : JSON.parse(text) });
      const fate = served.fate(timesOf(`${request.method} ${request.url} ${text}`), `${request.method} ${path}`);
      if (typeof fate === 'number')
        return Response.json(
          { detail: `as the test says: ${fate}` },
          { status: fate, headers: { 'retry-after': '0' } },
        );
      const answer = fate === 'request-lost' ? undefined : await app.fetch(request);
      if (answer && fate === undefined) return answer;
      (incoming as { socket: { destroy(): void } }).socket.destroy();
      return new Response();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const served: ServedApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    kit,
    asked,
    fate: () => undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return served;
};
