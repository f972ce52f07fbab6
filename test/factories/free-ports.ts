import { createServer } from 'node:net';

/** Three consecutive free ports, below the range that the system uses for connections. */
export const freePorts = async (): Promise<number> => {
  const from = 20_000 + 3 * (process.pid % 3_000);
  for (let port = from; port < from + 3_000; port += 3) {
    const free = await Promise.all([port, port + 1, port + 2].map(isFree));
    if (free.every(Boolean)) return port;
  }
  throw new Error(`no three free ports in a row from ${from}`);
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
