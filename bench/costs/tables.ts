/** The tables of docs/explanation/when-not-to-use-it.md, and the cost of an idle stack in docs/how-to/deploy.md. */
import { idleItems } from './idle.ts';
import { LOADS, perMillionTasks, unitsPerTask, WAYS } from './model.ts';

const SIZES = [1, 2, 5, 10, 25, 50, 100];

const dollars = (amount: number): string =>
  `$${amount.toLocaleString('en', { maximumFractionDigits: amount < 100 ? 2 : 0, minimumFractionDigits: amount < 100 ? 2 : 0 })}`;
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`.replaceAll('|  ', '| ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(row)].join('\n');

/** The cost of a million tasks by the size of their batches. */
export const bySize = (): string =>
  table(
    ['tasks a batch', ...SIZES.map(String)],
    [
      ['write units a task', ...SIZES.map((size) => unitsPerTask(size).write.toFixed(1))],
      ['read units a task', ...SIZES.map((size) => unitsPerTask(size).read.toFixed(1))],
      ['a million tasks', ...SIZES.map((size) => dollars(perMillionTasks(size)))],
    ],
  );

/** The cost of an idle stack per month. */
export const idle = (): string => {
  const items = idleItems();
  const withoutOps = items.filter(({ isOps }) => !isOps);
  const sumOf = (some: typeof items, of: 'dollars' | 'beyondFree'): string =>
    cents(some.reduce((sum, item) => sum + item[of], 0));
  return [
    row(['what', 'how much', 'price', 'dollars']),
    '|---|---|---|--:|',
    ...items.map((item) => row([item.what, item.amount, item.price, cents(item.dollars)])),
    row(['**sum**', '', '', `**${sumOf(items, 'dollars')}**`]),
    row(['beyond the free tier', '', '', sumOf(items, 'beyondFree')]),
    row(['without the ops stack', '', '', sumOf(withoutOps, 'dollars')]),
    row(['both', '', '', sumOf(withoutOps, 'beyondFree')]),
  ].join('\n');
};

const cents = (amount: number): string => amount.toFixed(2);

/** The cost of each way per month. */
export const byWay = (): string =>
  table(
    ['a month', ...LOADS.map(({ name }) => name)],
    [
      ['tasks', ...LOADS.map(({ tasks }) => tasks.toLocaleString('en'))],
      ['tasks a batch', ...LOADS.map(({ perBatch }) => String(perBatch))],
      ['the downstream’s price of a call', ...LOADS.map(({ perCall }) => (perCall === 0 ? '0' : `$${perCall}`))],
      ['a call takes', ...LOADS.map(({ callSeconds }) => `${callSeconds} s`)],
      ...Object.entries(WAYS).map(([way, cost]) => [way, ...LOADS.map((load) => dollars(cost(load)))]),
    ],
  );
