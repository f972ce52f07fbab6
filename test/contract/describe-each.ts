/** Runs a suite for each implementation; one that is missing here is skipped in words, or fails where nothing may be missing. */
import { afterAll, beforeAll, describe, it } from 'vitest';

interface Kind<Started> {
  readonly name: string;
  readonly missing?: string;
  start(): Promise<Started>;
}

/** Set where a missing engine is a failure: in CI. */
export const NOTHING_MAY_BE_MISSING = process.env.GROUPAGE_REQUIRE_ALL === '1';

export const describeEach = <Started extends { stop(): Promise<void> }>(
  subject: string,
  kinds: readonly Kind<Started>[],
  suite: (started: () => Started) => void,
): void => {
  for (const { name, missing, start } of kinds)
    describe(`${subject} on ${name}`, () => {
      if (missing && !NOTHING_MAY_BE_MISSING) return it.skip(`cannot run here: ${missing}`, () => {});
      let running: Started | undefined;
      beforeAll(async () => {
        running = await start();
      }, 120_000);
      afterAll(() => running?.stop());
      suite(() => {
        if (!running) throw new Error(`${name} did not start`);
        return running;
      });
      return undefined;
    });
};
