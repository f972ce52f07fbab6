/** A real HTTP server as downstream, which records its calls and answers as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface ReceivedCall {
  readonly at: number;
  readonly idempotencyKey: string;
  readonly batchId: string;
  readonly operation: string;
  readonly target: string;
  readonly attempt: number;
  readonly items: readonly { readonly id: string; readonly payload: Record<string, unknown> }[];
  /** The body as received. */
  readonly text: string;
}

/** Answers a call: returns status and body, or uses the connection itself. */
export type Behaviour = (
  call: ReceivedCall,
  response: ServerResponse,
) => Reply | Promise<Reply | undefined> | undefined;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface TestDownstream {
  readonly url: string;
  readonly calls: ReceivedCall[];
  behave(behaviour: Behaviour): void;
  stop(): Promise<void>;
}

interface Options {
  /** @default - any free port */
  readonly port?: number;
  /** Handles a request before its body is read. Returns true if it has handled it. */
  readonly refuses?: (request: IncomingMessage) => boolean;
}

export const startTestDownstream = async (
  behaviour: Behaviour = () => ({ status: 200 }),
  { port = 0, refuses = () => false }: Options = {},
): Promise<TestDownstream> => {
  const calls: ReceivedCall[] = [];
  let current = behaviour;
  const server = createServer((request, response) => {
    if (refuses(request)) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString();
      const call = {
        ...JSON.parse(text),
        at: Date.now(),
        idempotencyKey: String(request.headers['idempotency-key']),
        text,
      } as ReceivedCall;
      calls.push(call);
      const reply = await current(call, response);
      if (!reply) return;
      const body =
        typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body);
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(body);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/batch`,
    calls,
    behave: (next) => {
      current = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
