/** Finds a free port of the loopback address, and waits until a port is free. */
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { StartFailure } from '../failure.ts';

/** Maximum wait for the previous owner of a port to release it, and time between two checks, in milliseconds. */
const [PATIENCE, PAUSE] = [2_000, 25];

/** A free port of the loopback address. */
export const freePort = (): Promise<number> => listenOnce('127.0.0.1', 0);

/**
 * Waits until a port is free: the programs of a killed run need a moment to end.
 *
 * @throws StartFailure if the port stays in use.
 */
export const untilFree = async (host: string, port: number): Promise<void> => {
  for (const deadline = performance.now() + PATIENCE; ; await setTimeout(PAUSE)) {
    try {
      await listenOnce(host, port);
      return;
    } catch (cause) {
      // Leave other errors to the program that will listen on the port.
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
