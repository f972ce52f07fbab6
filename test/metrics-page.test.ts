/** The metrics page is computed from the list: `npm test -- test/metrics-page.test.ts -u` rewrites it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reportTo } from '../lambdas/log.ts';
import { measured } from '../src/domain/events/measure.ts';
import { METRICS, type MetricName } from '../src/domain/events/metrics.ts';
import { FLEET_METRICS } from '../src/domain/fleets/metrics.ts';
import { EVERY_EVENT } from './factories/flow-events.ts';

const PAGE = join(import.meta.dirname, '../docs/reference/metrics.md');
const TABLE = /(<!-- metrics -->\n)[\s\S]*?(<!-- \/metrics -->)/;

/** The events that add to a metric. */
const eventsOf = (metric: MetricName): readonly string[] => [
  ...new Set(
    EVERY_EVENT.flatMap((event) =>
      measured(event).flatMap(({ values }) => (metric in values ? [`\`${event.event}\``] : [])),
    ),
  ),
];

const rows = Object.entries(METRICS).map(([name, { unit, by, meaning }]) => {
  const dimensions = by.map((each) => `\`${each}\``).join(', ') || '–';
  return `| \`${name}\` | ${unit} | ${dimensions} | ${meaning} | ${eventsOf(name as MetricName).join(', ')} |`;
});
const table = ['| metric | unit | by | what | from the log line |', '|---|---|---|---|---|', ...rows, ''].join('\n');

it('the metrics page has every metric with unit, dimensions, meaning and source', async () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(TABLE);
  await expect(page.replace(TABLE, `$1${table}$2`)).toMatchFileSnapshot(PAGE);
});

const FLEET_TABLE = /(<!-- fleet metrics -->\n)[\s\S]*?(<!-- \/fleet metrics -->)/;
const OF_NODES = { same: 'maximum', sum: 'sum', max: 'maximum' } as const;

it('the metrics page has every metric of fleets, and how to combine those of several nodes', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const lines = Object.entries(FLEET_METRICS).map(
    ([name, { unit, nodes, meaning }]) => `| \`${name}\` | ${unit} | ${OF_NODES[nodes]} | ${meaning} |`,
  );
  const anew = ['| metric | unit | statistic | what |', '|---|---|---|---|', ...lines, ''].join('\n');
  expect(page).toMatch(FLEET_TABLE);
  await expect(page.replace(FLEET_TABLE, `$1${anew}$2`)).toMatchFileSnapshot(PAGE);
});

it('every metric comes from an event', () => {
  for (const name of Object.keys(METRICS) as MetricName[])
    expect([name, eventsOf(name).length > 0]).toEqual([name, true]);
});

it('the queries of the metrics page use existing fields of log lines', () => {
  const logged: Record<string, unknown>[] = [];
  const log = (message: string, fields: Record<string, unknown>) => logged.push({ message, level: '', ...fields });
  const report = reportTo({ info: log, warn: log, error: log });
  for (const event of EVERY_EVENT) report(event);
  const known = new Set(
    logged.flatMap((line) =>
      Object.entries(line).flatMap(([name, value]) =>
        typeof value === 'object' && value !== null ? Object.keys(value).map((key) => `${name}.${key}`) : [name],
      ),
    ),
  );
  const queries = [...readFileSync(PAGE, 'utf8').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, query = '']) => query);
  const named = queries.flatMap((query) => [
    ...[...query.matchAll(/fields (.+)/g)].flatMap(([, fields = '']) => fields.split(', ')),
    ...[...query.matchAll(/filter (\w+) /g)].map(([, field = '']) => field),
    ...[...query.matchAll(/\((\w+)[,)]/g)].map(([, field = '']) => field),
    ...[...query.matchAll(/ by (.+)/g)].flatMap(([, fields = '']) => fields.split(', ')),
  ]);
  expect(named.length).toBeGreaterThan(30);
  expect([...new Set(named)].filter((field) => !field.startsWith('@') && !known.has(field))).toEqual([]);
});

it('the metrics page counts the metrics of an operation and a stage', () => {
  const all = Object.values(METRICS);
  const of = (dimension?: string) => all.filter(({ by }) => (by as readonly string[])[0] === dimension).length;
  const page = readFileSync(PAGE, 'utf8').replaceAll('\n', ' ');
  const [operation, queue, destination, limit] = [of('operation'), of('queue'), of('destination'), of('limit')];
  expect(page).toContain(
    `${operation} for each operation, of which \`BatchesSealed\` is one for each reason; ${queue} for each queue, ${destination} for each destination, ${limit} for each limit, and ${of()} for all together`,
  );
});
