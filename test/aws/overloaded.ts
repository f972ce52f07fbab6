/** What the tests of an overloaded service share: resources on a real engine, clients that hear of trouble, and whose. */
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { makeResources, type Resources } from '../backends/resources.ts';
import { type Entry, overload, type TroubleOf } from './overload.ts';

export let resources: Resources;
let end = (): void => {};
/** Everything is done at once again, as after each test. */
export const relieve = (): void => end();

/** To be called once by a file, before its tests. */
export const withResources = (): void => {
  beforeAll(async () => {
    resources = await makeResources();
  });
  afterAll(() => resources.stop());
  // No pause between the rounds: what it is good for is nothing that a test could see.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
  afterEach(() => {
    end();
    vi.restoreAllMocks();
  });
};

/** From here on, to the end of the test. @returns how often the entries of the named ones were asked for, in order. */
export const overloaded = (troubleOf: TroubleOf): ((about: (text: string) => boolean) => number[]) => {
  const started = overload(resources.clients, troubleOf);
  end = started.end;
  return (about) =>
    [...started.times]
      .filter(([text]) => about(text))
      .toSorted(([a], [b]) => numberIn(a) - numberIn(b))
      .map(([, times]) => times);
};

/** Which of a test's tasks or messages this is about. */
export const numberIn = (text: string): number => Number(/r\d+-(\d+)/.exec(text)?.[1]);
export const numberOf = (entry: Entry): number => numberIn(JSON.stringify(entry));

/** How often each is not done: some the second time neither. */
export const failuresOf = (n: number): number => {
  if (n % 7 === 0) return 2;
  return n % 3 === 0 ? 1 : 0;
};
export const SOME: TroubleOf = (entry, time) => {
  const n = numberOf(entry);
  if (time > failuresOf(n)) return undefined;
  return { code: n % 2 === 0 ? 'ThrottlingError' : 'ProvisionedThroughputExceeded' };
};
