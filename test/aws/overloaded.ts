/** Shared by the tests of overloaded services: resources on a real engine, and clients with faults. */
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { makeResources, type Resources } from '../backends/resources.ts';
import { type Entry, overload, type TroubleOf } from './overload.ts';

export let resources: Resources;
let end = (): void => {};
/** Ends the overload, as happens after each test. */
export const relieve = (): void => end();

/** A test file calls this once, before its tests. */
export const withResources = (): void => {
  beforeAll(async () => {
    resources = await makeResources();
  });
  afterAll(() => resources.stop());
  // No pause between the rounds of retries: it is not under test here.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
  afterEach(() => {
    end();
    vi.restoreAllMocks();
  });
};

/**
 * Starts an overload that lasts until the end of the test. @returns how often the matching entries were requested, in
 * order
 */
export const overloaded = (troubleOf: TroubleOf): ((about: (text: string) => boolean) => number[]) => {
  const started = overload(resources.clients, troubleOf);
  end = started.end;
  return (about) =>
    [...started.times]
      .filter(([text]) => about(text))
      .toSorted(([a], [b]) => numberIn(a) - numberIn(b))
      .map(([, times]) => times);
};

/** The number of a test's task or message in a text. */
export const numberIn = (text: string): number => Number(/r\d+-(\d+)/.exec(text)?.[1]);
export const numberOf = (entry: Entry): number => numberIn(JSON.stringify(entry));

/** How often each entry fails: some fail twice. */
export const failuresOf = (n: number): number => {
  if (n % 7 === 0) return 2;
  return n % 3 === 0 ? 1 : 0;
};
export const SOME: TroubleOf = (entry, time) => {
  const n = numberOf(entry);
  if (time > failuresOf(n)) return undefined;
  return { code: n % 2 === 0 ? 'ThrottlingError' : 'ProvisionedThroughputExceeded' };
};
