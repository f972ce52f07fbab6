/**
 * A downstream that is down for hours and then recovers: what happens to its tasks under each policy. Two tasks a
 * second for twenty Targets arrive during the outage and for an hour after the outage.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { START } from '../../src/virtual/trace.ts';
import { QUICK } from '../../tools/simulate/downstream.ts';
import { sentAt } from '../../tools/simulate/simulated-stack.ts';
import { dollars, perMillion } from './bill.ts';
import { number, span, table } from './table.ts';
import { COLD, type OperationInput, only, steady, type Tried, tryOut } from './trial.ts';

const MINUTE: Millis = 60_000;
const HOUR = 60 * MINUTE;
const [RATE, TARGETS] = [2, 20];
/** The number of calls a second that the downstream accepts. */
const CALLS = 1;

export interface Outage {
  readonly hours: number;
  /** How long tasks continue to arrive after the outage, in hours. */
  readonly after: number;
}

const LONG: Outage = { hours: 6, after: 1 };
const SHORT: Outage = { hours: 1, after: 1 };

/** The policy of the operation, and the number of calls a second that its downstream accepts. */
interface Way {
  readonly name: string;
  readonly policy: OperationInput;
  readonly calls: number | null;
  /** Whether the downstream answers 429 to every call instead of being down. */
  readonly isSpent?: boolean;
}

export const WAYS = {
  usual: { name: 'defaults; downstream without a limit', policy: {}, calls: null },
  both: {
    name: `\`rateLimit: ${CALLS}\` and \`concurrency.total: 10\`; downstream takes ${CALLS} call a second`,
    policy: { rateLimit: CALLS, concurrency: { total: 10 } },
    calls: CALLS,
  },
  rate: {
    name: `\`rateLimit: ${CALLS}\` only; same downstream`,
    policy: { rateLimit: CALLS },
    calls: CALLS,
  },
  untold: { name: 'defaults, limit not configured; same downstream', policy: {}, calls: CALLS },
  spent: { name: 'defaults; downstream answers 429 throughout', policy: {}, calls: null, isSpent: true },
  bare: { name: '`circuit: null`; downstream without a limit', policy: { circuit: null }, calls: null },
} satisfies Record<string, Way>;

export interface OutageTried extends Tried {
  /** The number of tasks that were sent before the end of the outage, and of the calls with these tasks. */
  readonly backlog: { readonly tasks: number; readonly calls: number };
  /** The time from the end of the outage to the last call with a task of the backlog, in ms. */
  readonly drained: Millis;
}

export const tryOutage = async (way: keyof typeof WAYS, { hours, after }: Outage = LONG): Promise<OutageTried> => {
  const { policy, calls, isSpent = false }: Way = WAYS[way];
  const down = { from: 5 * MINUTE, until: 5 * MINUTE + hours * HOUR };
  const backlog = { tasks: 0, calls: 0 };
  let drained = 0;
  const tried = await tryOut({
    operations: { ship: { batch: { maxWait: '1m' }, ...policy } },
    surroundings: COLD,
    downstream: { ...QUICK, callsPerSecond: calls, ...(isSpent ? { spent: down } : { down }) },
    arrivals: steady({ rate: RATE, seconds: (down.until + after * HOUR) / 1_000 }, (n) => n % TARGETS),
    onCall: ({ call, answered }, now) => {
      const at = now - START;
      if (answered !== 'done' || at < down.until) return;
      const waitedThrough = call.items.filter(({ id }) => sentAt(id) - START < down.until).length;
      if (waitedThrough === 0) return;
      backlog.tasks += waitedThrough;
      backlog.calls += 1;
      drained = at - down.until;
    },
  });
  return { ...tried, backlog, drained };
};

const TRIED: readonly (readonly [way: keyof typeof WAYS, outage: Outage])[] = [
  ['usual', LONG],
  ['spent', LONG],
  ['both', LONG],
  ['bare', SHORT],
  ['rate', SHORT],
  ['untold', SHORT],
];

export const tellOutage = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const [way, outage] of TRIED) {
    const tried = await tryOutage(way, outage);
    const { failed, throttled } = only(tried);
    const { drained } = tried;
    rows.push([
      WAYS[way].name,
      `${outage.hours} h`,
      number(failed),
      span(drained),
      number(throttled),
      dollars(perMillion(tried)),
    ]);
  }
  return table(
    ['policy and downstream', 'outage', 'failed tasks', 'time to drain', '429 answers', 'price of a million tasks'],
    rows,
  );
};
