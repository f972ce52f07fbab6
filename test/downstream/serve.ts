/** Serves HTTP for the test that runs, and ends with it. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

/** What ends with the test. */
export const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

export const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer({ maxHeaderSize: 1_048_576 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch`;
};
