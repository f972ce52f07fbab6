/** Runs a suite for each implementation of a port. */
import { afterAll, beforeAll, describe } from 'vitest';

export interface Kind<Started> {
  readonly name: string;
  start(): Promise<Started>;
}

export const describeEach = <Started extends { stop(): Promise<void> }>(
  subject: string,
  kinds: readonly Kind<Started>[],
  suite: (started: () => Started) => void,
): void => {
  for (const { name, start } of kinds)
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
