/**
 * Tests parsers with random inputs. Each run has new inputs; a failure prints its seed and path, with which fast-check
 * repeats it.
 *
 * `GROUPAGE_FUZZ` is the count of inputs for each parser, as in `GROUPAGE_FUZZ=100000 npm run test:fuzz`.
 */
import fc from 'fast-check';
import { expect, vi } from 'vitest';

const FOR_EACH_PARSER = Number(process.env.GROUPAGE_FUZZ || 6_000);
if (!Number.isSafeInteger(FOR_EACH_PARSER) || FOR_EACH_PARSER < 6_000)
  throw new Error(`GROUPAGE_FUZZ takes a number from 6000, not ${process.env.GROUPAGE_FUZZ}`);
/** Each parser has three tests, which share the inputs. */
const INPUTS = Math.ceil(FOR_EACH_PARSER / 3);

// The time depends on the requested count.
vi.setConfig({ testTimeout: 3_600_000 });

/**
 * Each outcome must occur in at least this share of the inputs: a parser that always refuses, or always accepts, is
 * not tested.
 */
const SHARE = 0.03;

const POLLUTED = Object.getOwnPropertyNames(Object.prototype).length;

/**
 * Tests inputs.
 *
 * @param check checks an input, and answers the outcome of the parser.
 * @param ways the outcomes that must occur often.
 */
export const fuzz = async <Input, Way extends string>(
  inputs: fc.Arbitrary<Input>,
  ways: readonly Way[],
  check: (input: Input) => Way | Promise<Way>,
): Promise<void> => {
  const gone = new Map<Way, number>();
  const tryOne = async (input: Input): Promise<void> => {
    const way = await check(input);
    gone.set(way, (gone.get(way) ?? 0) + 1);
    if (Object.getOwnPropertyNames(Object.prototype).length !== POLLUTED)
      throw new Error('Object.prototype was changed');
  };
  const from = performance.now();
  await fc.assert(fc.asyncProperty(inputs, tryOne), { numRuns: INPUTS });
  const rate = Math.round(INPUTS / ((performance.now() - from) / 1_000));
  const shares = Object.fromEntries(ways.map((way) => [way, (gone.get(way) ?? 0) / INPUTS]));
  if (process.env.GROUPAGE_FUZZ)
    console.log(
      `${expect.getState().currentTestName}: ${INPUTS} inputs, ${rate} a second; ${ways.map((way) => `${way} ${Math.round((shares[way] ?? 0) * 100)}%`).join(', ')}`,
    );
  expect([...gone.keys()].filter((way) => !ways.includes(way))).toEqual([]);
  for (const way of ways) expect([way, (shares[way] ?? 0) >= SHARE]).toEqual([way, true]);
};
