/**
 * A proxy to the local DynamoDB for clients other than Groupage's own functions. It refuses requests of web pages, which the
 * engine itself allows (`access-control-allow-origin: *`).
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { isOnPurpose, NOT_ON_PURPOSE } from '../http/callers.ts';
import { refuseOddRequests } from '../http/odd-requests.ts';

export interface GuardedProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Listens on the loopback address and forwards allowed requests. @param port 0 means any free port. @param to endpoint of the engine. */
export const startGuardedProxy = async (port: number, to: string): Promise<GuardedProxy> => {
  const agent = new Agent({ keepAlive: true });
  const engine = new URL(to);
  const server = createServer((incoming, outgoing) =>
    isOnPurpose(incoming.headers, listeningOn()) ? handOn(incoming, outgoing, engine, agent) : refuse(outgoing),
  );
  refuseOddRequests(server);
  const listeningOn = (): number => (server.address() as AddressInfo).port;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${listeningOn()}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
};

const handOn = (incoming: IncomingMessage, outgoing: ServerResponse, engine: URL, agent: Agent): void => {
  const { method, url: path } = incoming;
  // These headers concern the caller's connection only. The engine must not answer an upgrade.
  const { connection, upgrade, expect, ...headers } = incoming.headers;
  // The target's own text may not choose the host: as a URL, `//host` and `http://host` are addresses.
  const to = { host: engine.hostname, port: engine.port, path };
  const onward = request({ ...to, method, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    // If the engine fails in the middle of its answer, this destroys the caller's connection too.
    pipeline(answer, outgoing, () => undefined);
  });
  // If one side closes, close the other: the caller sees a broken connection, as without the proxy.
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
};

/** Refuses a request in the format of AWS errors, so that clients show the reason. */
const refuse = (outgoing: ServerResponse): void => {
  outgoing
    .writeHead(403, { 'content-type': 'application/x-amz-json-1.0' })
    .end(JSON.stringify({ __type: 'AccessDeniedException', message: NOT_ON_PURPOSE }));
};
