/** A proxy before a local engine that never answers some requests: it accepts them and keeps the connection open. */
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

interface HangingEngine {
  readonly endpoint: string;
  /** The bodies of unanswered requests. */
  readonly left: readonly string[];
  stop(): Promise<void>;
}

/** @param hangs decides by its body whether a request gets no answer. The engine answers the others. */
export const startHanging = async (engine: string, hangs: (body: string) => boolean): Promise<HangingEngine> => {
  const left: string[] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const body = Buffer.concat(chunks);
      if (hangs(body.toString())) {
        left.push(body.toString());
        return;
      }
      const { method, url, headers } = message;
      forward(new URL(url ?? '/', engine), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
