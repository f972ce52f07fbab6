/**
 * Refuses requests that a local server cannot serve, with a reason: those whose target is not a path (an absolute URL, `*`,
 * CONNECT), and those that are not HTTP. Without this, each framework answers them differently, or not at all.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const NOT_A_PATH =
  'the request target must be a path, such as /v1/tasks: this is no proxy. Paths have no backslash; encode it as %5C';
const isPath = (target = ''): boolean => /^\/[^\\?]*(?:\?|$)/.test(target);

/** Why Node.js could not read a request, by the code of its error. */
const UNREADABLE: Readonly<Record<string, readonly [status: string, reason: string]>> = {
  HPE_INVALID_EOF_STATE: ['400 Bad Request', 'it ended in the middle'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the path and the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
};

/** How long the client may read the reason before its connection is destroyed, in milliseconds. */
const PATIENCE = 1_000;

/** Wraps the listeners that the server has, so call this once they are added. */
export const refuseOddRequests = (server: Server): void => {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isPath(request.url)) {
      response.writeHead(400, { 'content-type': 'text/plain', connection: 'close' }).end(NOT_A_PATH);
      return;
    }
    answers.set(request.socket, response);
    for (const listener of listeners) listener.call(server, request, response);
  });
  server.on('connect', (_, socket) => {
    // Node.js removes its own listener from the socket, and an error without one would end the process.
    socket.on('error', () => socket.destroy());
    refuse(socket, '405 Method Not Allowed', NOT_A_PATH);
  });
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException & { readonly reason?: string }, socket) => {
    const answer = answers.get(socket);
    const isAnswering = answer?.headersSent && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || isAnswering) return socket.destroy();
    const [status, reason] = UNREADABLE[error.code ?? ''] ?? ['400 Bad Request', error.reason ?? error.message];
    return refuse(socket, status, `the request is not valid HTTP: ${reason}`);
  });
};

const refuse = (socket: Duplex, status: string, reason: string): void => {
  // While the rest of an invalid request arrives, each part causes another error.
  if (!socket.writable) return;
  const head = ['content-type: text/plain', 'connection: close', `content-length: ${Buffer.byteLength(reason)}`];
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${reason}`);
  // If the connection were destroyed at once, the client would see a reset instead of the reason.
  setTimeout(() => socket.destroy(), PATIENCE).unref();
};
