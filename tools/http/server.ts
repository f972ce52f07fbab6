/** Serves an HTTP API on the loopback address, for local requests only. */
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HttpProblem } from '../../src/api/shared/problem.ts';
import { PortInUse, StartFailure } from '../failure.ts';
import { isOnPurpose, NOT_ON_PURPOSE } from './callers.ts';
import { refuseOddRequests } from './odd-requests.ts';

export interface LocalServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** @throws StartFailure if the port is in use or not permitted. */
export const serveLocally = async (api: Hono, wanted: number): Promise<LocalServer> => {
  let port = wanted;
  const app = new Hono();
  app.use(async (context, next) =>
    isOnPurpose(context.req.header(), port) ? next() : new HttpProblem(403, NOT_ON_PURPOSE).toResponse(),
  );
  // Do not use `route`, which would drop the API's own error handler.
  app.all('*', (context) => api.fetch(context.req.raw));
  const server = await new Promise<Server>((resolve, reject) => {
    // Without other options, it is a server of node:http.
    const listening = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: wanted }, (info) => {
      port = info.port;
      resolve(listening);
    }) as Server;
    refuseOddRequests(listening);
    listening.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new PortInUse(wanted)
          : new StartFailure(`could not listen on port ${wanted}: ${error.message}`),
      ),
    );
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
