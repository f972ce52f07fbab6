import { expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { hintsOf } from '../../tools/cli/hints.ts';

const http = { kind: 'http', url: 'https://parcels.example/batch' };
const hints = (maxSize: number, downstream: object = http): string[] => {
  const parsed = parseConfig({ operations: { ship: { target: [], downstream, batch: { maxSize } } } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return hintsOf(parsed.value);
};

it('results that may be too large together for one answer are hinted at, with what to do', () => {
  expect(hints(1_000)).toEqual([
    expect.stringMatching(/^ship: .*1,000 tasks may have about 6,000 bytes each\. .*lower batch\.maxSize/),
  ]);
  expect(hints(601, { kind: 'lambda', function: 'parcels' })).toHaveLength(1);
});

it('where results of the usual size fit, or no answer brings them, there is no hint', () => {
  for (const size of [1, 100, 600]) expect(hints(size)).toEqual([]);
  expect(hints(1_000, { kind: 'queue', name: 'parcels' })).toEqual([]);
  expect(hints(1_000, { kind: 'step-functions', stateMachine: 'parcels' })).toEqual([]);
});
