/** The table of docs/evidence/cold-starts.md. */
import type { HandlerName } from '../../lib/handler-names.ts';
import type { Size } from './sizes.ts';
import { EMPTY, type Start, type Started } from './starts.ts';

const kilobytes = (bytes: number): string => String(Math.round(bytes / 1_000));
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const middleOf = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

const HEAD = ['function', 'at start, KB', 'later, KB', 'ms, median', 'CPU × empty'];

export const tableOf = (
  sizes: ReadonlyMap<HandlerName, Size>,
  starts: ReadonlyMap<Started, readonly Start[]>,
): string => {
  const of = (name: Started, what: keyof Start): number[] => (starts.get(name) ?? []).map((each) => each[what]);
  const base = middleOf(of(EMPTY, 'cpu'));
  const times = (name: Started): string[] => {
    const [ms, cpu] = [of(name, 'ms'), middleOf(of(name, 'cpu'))];
    return [middleOf(ms).toFixed(0), (cpu / base).toFixed(1)];
  };
  return [
    row(HEAD),
    `|---|${'--:|'.repeat(HEAD.length - 1)}`,
    row([EMPTY, 0, 0, ...times(EMPTY)]),
    ...[...sizes].map(([name, { atStart, later }]) =>
      row([`\`${name}\``, ...[atStart, later].map(kilobytes), ...times(name)]),
    ),
  ].join('\n');
};

/** The page with its table replaced. */
export const withTable = (page: string, table: string): string =>
  page.replace(/(<!-- cold-start -->\n)[\s\S]*?(<!-- \/cold-start -->)/, `$1\n${table}\n\n$2`);
