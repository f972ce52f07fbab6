/** Serves the HTTP API on the loopback address, and to callers that are on this machine on purpose only. */
import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HttpProblem } from '../api/problem.ts';
import { StartFailure } from './start-failure.ts';

export interface LocalServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/**
 * A page from elsewhere can send requests to this machine (cross-site), and a name that resolves to 127.0.0.1 can make
 * them look same-site (DNS rebinding). So the Host must be ours, and the Origin, where there is one.
 */
const isOurs = (request: Request, port: number): boolean => {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port}`);
  const origin = request.headers.get('origin');
  return (
    hosts.includes(request.headers.get('host') ?? '') &&
    (origin === null || hosts.some((host) => origin === `http://${host}`))
  );
};

/** @throws StartFailure when the port is taken or not allowed. */
export const serveLocally = async (api: Hono, wanted: number): Promise<LocalServer> => {
  let port = wanted;
  const app = new Hono();
  app.use(async (context, next) =>
    isOurs(context.req.raw, port)
      ? next()
      : new HttpProblem(
          403,
          'this API answers only callers on this machine: use http://127.0.0.1 or http://localhost, and no page of another origin',
        ).toResponse(),
  );
  // Not `route`: that would leave the API's own answers to errors behind.
  app.all('*', (context) => api.fetch(context.req.raw));
  const server = await new Promise<ServerType>((resolve, reject) => {
    const listening = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: wanted }, (info) => {
      port = info.port;
      resolve(listening);
    });
    listening.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new StartFailure(
          error.code === 'EADDRINUSE'
            ? `port ${wanted} is in use: choose another with --port`
            : `the API could not listen on port ${wanted}: ${error.message}`,
        ),
      ),
    );
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
};
