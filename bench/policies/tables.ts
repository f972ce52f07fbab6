/** The tables of docs/how-to/choose-a-policy.md. */

import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { perMillionTasks } from '../costs/model.ts';
import { byChance, inBursts } from './arrivals.ts';
import { batchesOf, type Calls, type Sealed } from './simulate.ts';

/** The batch policy of an operation whose configuration contains none. */
const usual = (): BatchPolicy => {
  const config = parseConfig({ operations: { usual: { target: [], downstream: { kind: 'queue', name: 'usual' } } } });
  const [operation] = config.ok ? Object.values(config.value.operations) : [];
  if (!operation) throw new Error('an operation without a batch policy was refused');
  return operation.batch;
};
const USUAL = usual();

interface Told {
  readonly size: number;
  readonly median: Millis;
  readonly late: Millis;
  readonly batches: number;
}

const toldOf = (sealed: readonly Sealed[]): Told => {
  const waits = sealed.flatMap((batch) => batch.waits).sort((a, b) => a - b);
  const at = (share: number): Millis => waits[Math.floor(share * (waits.length - 1))] ?? 0;
  return { size: waits.length / sealed.length, median: at(0.5), late: at(0.95), batches: sealed.length };
};

const number = (value: number): string => (value < 9.95 ? value.toFixed(1) : String(Math.round(value)));
const span = (millis: Millis): string =>
  millis < 950
    ? `${Math.round(millis / 10) * 10} ms`
    : millis < 120_000
      ? `${number(millis / 1_000)} s`
      : `${number(millis / 60_000)} min`;
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(row)].join('\n');

const WAITS = { '1s': 1_000, '5s': 5_000, '30s': 30_000, '5m': 300_000 } as const;
const RATES = [0.01, 0.1, 1, 10, 100];

/**
 * A table of the tasks per batch, the median wait and the cost of a million tasks, by `maxWait` and the rate of a
 * Target.
 */
export const byRate = (): string =>
  table(
    ['tasks a second', ...Object.keys(WAITS).map((wait) => `\`maxWait: "${wait}"\``)],
    RATES.map((rate) => [
      String(rate),
      ...Object.values(WAITS).map((maxWait) => {
        const { size, median } = toldOf(batchesOf(byChance(rate, 6_000), { ...USUAL, maxWait }));
        return `${number(size)}, ${span(median)}, $${perMillionTasks(Math.min(100, size)).toFixed(1)}`;
      }),
    ]),
  );

const BURSTS = inBursts(40, 200, 20_000, 500);
const POLICIES: readonly (readonly [string, Partial<BatchPolicy>])[] = [
  ['`maxWait: "1s"` (the default)', { maxWait: 1_000 }],
  ['`maxWait: "5s"`', { maxWait: 5_000 }],
  ['`maxWait: "5s", quietPeriod: "300ms"`', { maxWait: 5_000, quietPeriod: 300 }],
  ['`maxWait: "1m", quietPeriod: "300ms", minSize: 80`', { maxWait: 60_000, quietPeriod: 300, minSize: 80 }],
  ['`window: "5s"`', { window: 5_000, maxWait: 5_000 }],
  ['`window: "1m"`', { window: 60_000, maxWait: 60_000 }],
];

/** A table for bursts of forty tasks within 200 ms, about every 20 s. */
export const byPolicy = (): string =>
  table(
    ['`batch`', 'tasks a batch', 'median wait', '95th percentile'],
    POLICIES.map(([name, policy]) => toldRow(name, batchesOf(BURSTS, { ...USUAL, ...policy }))),
  );

const toldRow = (name: string, sealed: readonly Sealed[]): readonly string[] => {
  const { size, median, late } = toldOf(sealed);
  return [name, number(size), span(median), span(late)];
};

const CAPS: readonly (readonly [string, Calls])[] = [
  ['`null` (the default)', { takes: 3_000, perTarget: null }],
  ['`2`', { takes: 3_000, perTarget: 2 }],
  ['`1`', { takes: 3_000, perTarget: 1 }],
];

/** A table for twenty tasks a second and calls of three seconds. */
export const byCap = (): string =>
  table(
    ['`concurrency.perTarget`', 'tasks a batch', 'median wait', '95th percentile'],
    CAPS.map(([name, calls]) => toldRow(name, batchesOf(byChance(20, 6_000), USUAL, calls))),
  );
