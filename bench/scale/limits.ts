/** Targets that compete for calls under one limit: how much of the limit they use, and what its row costs. */
import type { Millis } from '../../src/domain/ids.ts';
import { QUICK } from '../../tools/simulate/downstream.ts';
import { number, table } from './table.ts';
import { type Trial, type Tried, tryOut } from './trial.ts';

/** The limit allows this many calls a second. */
const RATE = 5;
/** Each call takes this long, in ms, so that half a second of calls is in progress. */
const TAKES: Millis = 500;
const CALLS = 1_000;

type Limit = NonNullable<Trial['limits']>[string];

/** The kinds of limits, each for the same number of calls a second. */
const KINDS = {
  'calls a second': { calls: RATE },
  'calls a second, and calls in progress': { calls: RATE, concurrency: { calls: 10 } },
} as const satisfies Record<string, Limit>;

interface Contended extends Tried {
  /** Calls a second from the first to the last one. */
  readonly rate: number;
  /** Write units of the bucket and its queue, for each call. */
  readonly writes: number;
  readonly refused: number;
}

const tryLimit = async (contenders: number, limit: Limit): Promise<Contended> => {
  const starts: Millis[] = [];
  let refused = 0;
  const tried = await tryOut({
    limits: { vendor: limit },
    operations: { ship: { batch: { maxSize: 1, maxWait: '0s' }, limits: ['vendor'] } },
    downstream: { ...QUICK, takes: TAKES, callsPerSecond: RATE },
    arrivals: at(CALLS, contenders),
    onCall: ({ answered }, now) => {
      starts.push(now);
      if (answered === 'throttled') refused += 1;
    },
  });
  const span = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
  return {
    ...tried,
    rate: ((starts.length - 1) * 1_000) / span,
    writes: tried.partitions.writtenTo('limit:vendor') / starts.length,
    refused,
  };
};

/** All tasks arrive within ten seconds, so that all Targets compete from then on. */
function* at(tasks: number, targets: number) {
  for (let n = 0; n < tasks; n += 1)
    yield { at: Math.floor((n * 10_000) / tasks), operation: 'ship', payload: `{"depot":"D${n % targets}","n":${n}}` };
}

const TRIED: readonly number[] = [1, 10, 100, 500];

export const tellLimits = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const [kind, limit] of Object.entries(KINDS))
    for (const contenders of TRIED) {
      const { rate, writes, refused } = await tryLimit(contenders, limit);
      rows.push([kind, number(contenders), number(rate), number(writes), number(refused)]);
    }
  return table(['limit', 'Targets that compete', 'calls per second', 'write units per call', '429 answers'], rows);
};
