/** Finds a free port of the loopback address, and waits until a port is free. */
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { StartFailure } from '../failure.ts';

/** How long the last owner of a port may take to let it go (ms), and how often to look. */
const [PATIENCE, PAUSE] = [2_000, 25];

/** A port of the loopback address that nothing listens on. */
export const freePort = (): Promise<number> => listenOnce('127.0.0.1', 0);

/**
 * Waits until nothing listens on a port: what a killed run leaves needs a moment to end.
 *
 * @throws StartFailure when something goes on listening.
 */
export const untilFree = async (host: string, port: number): Promise<void> => {
  for (const deadline = performance.now() + PATIENCE; ; await setTimeout(PAUSE)) {
    try {
      await listenOnce(host, port);
      return;
    } catch (cause) {
      // Whatever else is wrong with the port, who is to listen there says it better.
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')) return;
      if (performance.now() > deadline) throw new StartFailure(`port ${port} of ${host} is in use`);
    }
  }
};

/** @returns the port */
const listenOnce = (host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
