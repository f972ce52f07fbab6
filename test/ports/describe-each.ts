/** Runs a suite for each implementation of a port. */
import { afterAll, beforeAll, describe } from 'vitest';
import { backendName } from '../backends/given.ts';

export interface Kind<Started> {
  readonly name: string;
  /** Whether the implementation is independent of the backend. Then it runs with the default backend only. */
  readonly inMemory?: boolean;
  start(): Promise<Started>;
}

export const describeEach = <Started extends { stop(): Promise<void> }>(
  subject: string,
  kinds: readonly Kind<Started>[],
  suite: (started: () => Started) => void,
): void => {
  for (const { name, start } of kinds.filter(({ inMemory }) => !inMemory || backendName() === 'embedded'))
    describe(`${subject} on ${name}`, () => {
      let running: Started | undefined;
      beforeAll(async () => {
        running = await start();
      });
      afterAll(() => running?.stop());
      suite(() => {
        if (!running) throw new Error(`${name} did not start`);
        return running;
      });
    });
};
