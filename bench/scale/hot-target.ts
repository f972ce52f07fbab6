/** One Target with 5,000 tasks a second, beside Targets of another operation with few tasks. */
import type { Arrival } from '../../tools/simulate/trace.ts';
import { number, span, table } from './table.ts';
import { COLD, steady, type Tried, tryOut, WARM } from './trial.ts';

/** Merges two sequences by time. */
function* merged(one: Iterable<Arrival>, other: Iterable<Arrival>): Generator<Arrival> {
  const [a, b] = [one[Symbol.iterator](), other[Symbol.iterator]()];
  let [left, right] = [a.next(), b.next()];
  while (!left.done || !right.done) {
    if (right.done || (!left.done && left.value.at <= right.value.at)) {
      yield left.value as Arrival;
      left = a.next();
    } else {
      yield right.value;
      right = b.next();
    }
  }
}

export interface Hot {
  readonly shards: number;
  /** The number of tasks a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Whether the event sources start with only five pollers. */
  readonly isCold?: boolean;
}

/** The number of tasks a second of the other operation, and the number of its Targets. */
const [QUIET, QUIET_TARGETS] = [50, 50];

export const tryHot = ({ shards, rate, seconds, isCold = false }: Hot): Promise<Tried> =>
  tryOut({
    operations: { hot: { shards }, quiet: {} },
    surroundings: isCold ? COLD : WARM,
    arrivals: merged(
      steady({ operation: 'hot', rate, seconds }),
      steady({ operation: 'quiet', rate: QUIET, seconds }, (n) => n % QUIET_TARGETS),
    ),
  });

const RATE = 5_000;
const SECONDS = 10;
const TRIED: readonly Omit<Hot, 'rate' | 'seconds'>[] = [
  { shards: 1 },
  { shards: 8 },
  { shards: 12 },
  { shards: 12, isCold: true },
];

export const tellHotTarget = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const each of TRIED) {
    const tried = await tryHot({ ...each, rate: RATE, seconds: SECONDS });
    const lateOf = (name: string) => tried.operations.find(({ operation }) => operation === name)?.late;
    const { timeline } = tried;
    rows.push([
      `${each.shards}${each.isCold ? ', from five pollers' : ''}`,
      number(timeline[SECONDS - 1]?.waiting ?? 0),
      span(tried.span - SECONDS * 1_000),
      span(lateOf('hot')?.p99 ?? 0),
      span(lateOf('quiet')?.p99 ?? 0),
    ]);
  }
  return table(
    ['`shards`', `waiting after ${SECONDS} s`, 'time to drain', 'p99 lateness', 'p99 lateness, quiet Targets'],
    rows,
  );
};
