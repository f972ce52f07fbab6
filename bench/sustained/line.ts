/**
 * A connection that sends requests to a local SQS, one after another. The client of Node.js or of the SDK would use a
 * third of the processor time that is measured.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Line {
  /**
   * @param action the value of `x-amz-target`
   * @throws if the answer is not a 200
   */
  post(action: string, body: string): Promise<void>;
  close(): void;
}

export const openLine = async ({ hostname, port, host }: URL): Promise<Line> => {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  return {
    post: async (action, body) => {
      const head = `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: ${action}`;
      socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      const answer = await answered(socket);
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`SQS answered: ${answer}`);
    },
    close: () => void socket.destroy(),
  };
};

/** Reads the whole answer: its head, and the number of bytes that the head states. */
const answered = async (socket: Socket): Promise<string> => {
  let received: Buffer = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, end)) ?? [];
    if (received.length >= end + 4 + Number(length)) return received.toString();
  }
};
