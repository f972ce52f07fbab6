/**
 * The example's downstream: a service that takes one flight (`POST /flight`) or many flights of one origin (`POST
 * /batch`). It refuses more than one call per second per origin.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface Flight {
  readonly date: string;
  /** Delay in minutes. A negative number means that the flight was early. */
  readonly delay: number;
  /** Distance in miles. */
  readonly distance: number;
  readonly origin: string;
  readonly destination: string;
}

/** Counts of calls for one of the two ways that the example compares. */
export interface Tally {
  calls: number;
  /** Calls that were answered 429. */
  refused: number;
  /** Number of flights in accepted calls. */
  flights: number;
}

export interface Downstream {
  readonly url: string;
  readonly single: Readonly<Tally>;
  readonly batch: Readonly<Tally>;
  stop(): Promise<void>;
}

const INTERVAL = 1_000;

/** @param onBatch is called for each accepted or refused batch. */
export const startDownstream = (
  port: number,
  onBatch: (origin: string, flights: number, status: number) => void = () => {},
): Promise<Downstream> => {
  const single = throttledDoor();
  const batch = throttledDoor();
  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => send(response, 500, { error: String(cause) }));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET' && request.url === '/tally')
      return send(response, 200, { single: single.tally, batch: batch.tally });
    if (request.method !== 'POST') return send(response, 405, { error: 'POST /flight or /batch' });
    const body = JSON.parse(await textOf(request)) as Flight & { items?: { id: string; payload: Flight }[] };
    if (request.url === '/flight') return send(response, ...single.enter(body.origin, 1), {});
    if (request.url !== '/batch' || !body.items) return send(response, 404, { error: 'POST /flight or /batch' });
    const origin = body.items[0]?.payload.origin ?? '';
    const [status, headers] = batch.enter(origin, body.items.length);
    onBatch(origin, body.items.length, status);
    if (status !== 200) return send(response, status, headers, { error: 'one call a second per origin' });
    return send(response, 200, { results: body.items.map(report) });
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({ url: urlOf(server), single: single.tally, batch: batch.tally, stop: () => close(server) }),
    );
  });
};

/** Accepts one call per second for each origin. */
const throttledDoor = () => {
  const last = new Map<string, number>();
  const tally: Tally = { calls: 0, refused: 0, flights: 0 };
  return {
    tally,
    enter: (origin: string, flights: number): [number, Record<string, string>] => {
      const now = Date.now();
      tally.calls += 1;
      if (now - (last.get(origin) ?? 0) < INTERVAL) {
        tally.refused += 1;
        return [429, { 'retry-after': '1' }];
      }
      last.set(origin, now);
      tally.flights += flights;
      return [200, {}];
    },
  };
};

/** The result of a flight: its delay, or a failure if origin and destination are equal. */
export const report = ({ id, payload }: { id: string; payload: Flight }) =>
  payload.origin === payload.destination
    ? {
        id,
        status: 'failed' as const,
        error: { code: 'round-trip', message: `${payload.origin} is both origin and destination of the flight` },
      }
    : { id, status: 'succeeded' as const, result: { late: payload.delay > 15, minutes: payload.delay } };

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const send = (
  response: ServerResponse,
  status: number,
  ...parts: [body: unknown] | [headers: Record<string, string>, body: unknown]
): void => {
  const [headers, body] = parts.length === 2 ? parts : [{}, parts[0]];
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

const urlOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
