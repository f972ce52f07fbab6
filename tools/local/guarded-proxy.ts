/**
 * The way to the local DynamoDB for everybody but our functions: its engine would also answer any web page, which it
 * tells every browser (`access-control-allow-origin: *`).
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isOnPurpose, NOT_ON_PURPOSE } from '../http/callers.ts';

export interface GuardedProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Listens on the loopback address, and hands on what may pass. @param port 0 for any free one. @param to the engine. */
export const startGuardedProxy = async (port: number, to: string): Promise<GuardedProxy> => {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) =>
    isOnPurpose(incoming.headers, listeningOn()) ? handOn(incoming, outgoing, to, agent) : refuse(outgoing),
  );
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

const handOn = (incoming: IncomingMessage, outgoing: ServerResponse, to: string, agent: Agent): void => {
  const { method, url = '/', headers } = incoming;
  const onward = request(new URL(url, to), { method, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  // Either side may go: the caller sees that the connection broke, as it would without us.
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
};

/** In the form in which clients of AWS show a reason. */
const refuse = (outgoing: ServerResponse): void => {
  outgoing
    .writeHead(403, { 'content-type': 'application/x-amz-json-1.0' })
    .end(JSON.stringify({ __type: 'AccessDeniedException', message: NOT_ON_PURPOSE }));
};
