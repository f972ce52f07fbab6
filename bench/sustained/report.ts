/** The report of sustained loads: a table, and the limits that were exceeded. */
import { availableParallelism } from 'node:os';
import { number, span, table } from '../scale/table.ts';
import type { Load } from './loads.ts';
import type { Ran } from './run.ts';

/** The description of each limit of a load. */
const SAID = {
  p99: (most: string) => `99 of 100 wait for at most ${most}`,
  longest: (most: string) => `no task waits for longer than ${most}`,
  gap: (most: string) => `no Target with tasks goes without a call for longer than ${most}`,
  drained: (most: string) => `the last call comes within ${most}`,
} as const satisfies Readonly<Record<keyof Load['limits'], (most: string) => string>>;

const LIMITS = Object.keys(SAID) as (keyof typeof SAID)[];

const measured = ({ waits, gap, drained }: Ran, limit: keyof typeof SAID): number =>
  ({ p99: waits.p99, longest: waits.longest, gap, drained })[limit];

/** The limits that were exceeded, the tasks that were in no call or in two calls, and the errors of the stack. */
export const failuresOf = (ran: Ran): readonly string[] => [
  ...LIMITS.flatMap((limit) => {
    const most = ran.load.limits[limit];
    const was = measured(ran, limit);
    return most !== undefined && was > most ? [`${SAID[limit](span(most))}: ${span(was)}`] : [];
  }),
  ...(ran.lost > 0 ? [`${ran.lost} tasks were in no call`] : []),
  ...(ran.twice > 0 ? [`${ran.twice} tasks were in two calls`] : []),
  ...ran.errors.slice(0, 3),
];

const limitsOf = ({ limits }: Load): string =>
  LIMITS.flatMap((limit) => (limits[limit] === undefined ? [] : [`${limit} ≤ ${span(limits[limit])}`])).join(', ');

export const reportOf = (all: readonly Ran[]): string => {
  const rows = all.map((ran) => [
    ran.load.name,
    span(ran.waits.p50),
    span(ran.waits.p99),
    span(ran.waits.longest),
    span(ran.gap),
    span(ran.drained),
    limitsOf(ran.load),
    failuresOf(ran).length === 0 ? 'yes' : 'no',
  ]);
  const head = ['load', 'p50', 'p99', 'longest', 'gap', 'drained', 'limits', 'held'];
  const loads = all.map(({ load }) => `- **${load.name}**: ${load.about}`).join('\n');
  const before = all.map(({ machineLoad }) => machineLoad);
  const range = `${number(Math.min(...before))} to ${number(Math.max(...before))}`;
  const made = `Machine: ${availableParallelism()} cores, load average before each run ${range}.`;
  return [made, loads, table(head, rows)].join('\n\n');
};
