/** The computed tables of the pages: `npm test -- test/docs/tables.test.ts -u` rewrites them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { counts, idleItems, idlePerMonth } from '../../bench/costs/idle.ts';
import { LOADS, MESSAGE_BYTES, perMillionTasks, unitsPerTask, WAYS } from '../../bench/costs/model.ts';
import { bySize, byWay, idle } from '../../bench/costs/tables.ts';
import { byChance } from '../../bench/policies/arrivals.ts';
import { batchesOf } from '../../bench/policies/simulate.ts';
import { byCap, byPolicy, byRate } from '../../bench/policies/tables.ts';
import { assumed } from '../../bench/simulate/tables.ts';
import { askedFor, metricsBilled } from '../../tools/console/server/cloudwatch-queries.ts';
import { FREE, PRICES } from '../../tools/simulate/prices.ts';
import { ROOT } from '../cli/groupage.ts';
import { aPolicy } from '../factories/factories.ts';
import { rights } from './rights.ts';

const PAGES = {
  'docs/how-to/choose-a-policy.md': { byRate, byPolicy, byCap },
  'docs/explanation/when-not-to-use-it.md': { bySize, byWay },
  'docs/how-to/deploy.md': { idle },
  'docs/how-to/simulate.md': { assumed },
  'docs/reference/http-api.md': { rights },
} as const;

it.each(Object.entries(PAGES))('%s has its tables as computed', async (page, tables) => {
  const path = join(ROOT, page);
  const text = readFileSync(path, 'utf8');
  const anew = Object.entries(tables).reduce((so, [name, table]) => {
    const between = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    expect(so).toMatch(between);
    return so.replace(between, (_, begin: string, end: string) => `${begin}\n${table()}\n\n${end}`);
  }, text);
  await expect(anew).toMatchFileSnapshot(path);
});

describe('the cost of a task', () => {
  it('is the same in the README and on the pages, in whole dollars', () => {
    const page = readFileSync(join(ROOT, 'docs/explanation/when-not-to-use-it.md'), 'utf8');
    const [one, ...more] = [...(/\| a million tasks \|(.*)/.exec(page)?.[1] ?? '').matchAll(/[\d.]+/g)].map(Number);
    const idle = Number(/An idle stack costs \$([\d.]+) a month/.exec(page)?.[1]);
    const [full, single, month] = [more.at(-1), one, idle].map((price) => `$${Math.round(price ?? Number.NaN)}`);
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8').replaceAll('\n', ' ')).toContain(
      `A million tasks cost about ${full} in full batches of 100, and ${single} in batches of one. An idle stack costs about ${month} a month.`,
    );
  });

  it('uses prices whose date the page gives', () => {
    const [year, month] = PRICES.asOf.split('-').map(Number) as [number, number];
    const date = new Date(Date.UTC(year, month - 1)).toLocaleString('en', {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    });
    expect(readFileSync(join(ROOT, 'docs/explanation/when-not-to-use-it.md'), 'utf8')).toContain(
      `(${PRICES.region}, ${date}, `,
    );
  });

  it('is the measured one for batches of 1 and 100', () => {
    expect(unitsPerTask(1)).toEqual({ write: 16, read: 13.5 });
    expect(unitsPerTask(100).write).toBeCloseTo(5.19);
    expect(unitsPerTask(100).read).toBeCloseTo(1.72);
    const sizes = [1, 2, 5, 10, 50, 100];
    const costs = sizes.map(perMillionTasks);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
  });

  it('rises with the number of tasks in every way', () => {
    for (const [way, cost] of Object.entries(WAYS))
      for (const load of LOADS) {
        const more = cost({ ...load, tasks: 2 * load.tasks, perCall: 0.01 });
        expect([way, more > cost({ ...load, perCall: 0.01 })]).toEqual([way, true]);
      }
  });
});

describe('the prices on the pages', () => {
  const { cloudWatch, dynamodb, kms, stepFunctions } = PRICES;
  const dollars = (amount: number): string => `$${amount.toFixed(2)}`;
  const withoutOps = idleItems().reduce((sum, { dollars: each, isOps }) => sum + (isOps ? 0 : each), 0);
  const perMinute = (operations: readonly string[]): number =>
    metricsBilled(askedFor(operations)) * 60 * (cloudWatch.perThousandMetricsRequested / 1_000);
  const perOperation = perMinute(['ship']) - perMinute([]);
  const largeMessages = perMillionTasks(100, 65_536) - perMillionTasks(100);
  // One metric for each function; reads and writes of seven tables and four indexes.
  const throttles = (7 + 2 * (7 + 4)) * (cloudWatch.perThousandMetricsRequested / 1_000);

  it.each([
    ['how-to/operate.md', `at [${dollars(cloudWatch.perAlarmMonth)} a month]`],
    ['how-to/operate.md', `(up to 29 metrics, ${(throttles * 100).toFixed(2)} cents)`],
    ['how-to/deploy.md', `more than ${FREE.cloudWatch.metricsOfDashboard} metrics is not in the free tier`],
    ['how-to/other-downstreams.md', `costs $${stepFunctions.perMillionTransitions} a million transitions`],
    ['reference/console.md', `$${cloudWatch.perThousandMetricsRequested} per 1,000 metrics`],
    ['reference/console.md', `**${(perOperation * 100).toFixed(1)} cents an hour for each operation**`],
    ['reference/console.md', `and ${(perMinute([]) * 100).toFixed(1)} cents for lists and`],
    ['reference/console.md', `$${dynamodb.perMillionReadUnits} per million in ${PRICES.region}`],
    ['reference/metrics.md', `costs ${dollars(cloudWatch.perMetricMonth)} a month`],
    ['reference/metrics.md', `Log lines (${dollars(cloudWatch.perGigabyteOfLogs)} per GB)`],
    ['reference/construct.md', `| the key | ${dollars(kms.perKeyMonth)} a month`],
    ['reference/construct.md', `| ${dollars(kms.perTenThousandRequests)} per 10,000`],
    ['explanation/when-not-to-use-it.md', `at ${dollars(dynamodb.perGigabyteMonth)} per GB and month`],
    ['explanation/when-not-to-use-it.md', `add ${dollars(largeMessages)} a million for SQS`],
    ['explanation/when-not-to-use-it.md', `ten messages of ${MESSAGE_BYTES} bytes a request`],
    [
      'explanation/when-not-to-use-it.md',
      `costs ${dollars(idlePerMonth())} a month, or ${dollars(withoutOps)} without dashboard`,
    ],
  ])('are those of prices.ts: %s', (page, text) =>
    expect(readFileSync(join(ROOT, 'docs', page), 'utf8').replaceAll('\n', ' ')).toContain(text),
  );

  it('count the resources and alarms that the app has', () => {
    const { alarms, resources, metricsOfDashboard } = counts();
    const [deploy, operate] = ['deploy', 'operate'].map((page) =>
      readFileSync(join(ROOT, `docs/how-to/${page}.md`), 'utf8'),
    );
    // Each of the three stacks also has the metadata of the CDK.
    expect(deploy).toContain(`${resources + 3} resources in three stacks`);
    expect(deploy).toContain(`a dashboard and ${alarms} [alarms]`);
    expect(operate).toContain(`has ${alarms} alarms`);
    expect(metricsOfDashboard).toBeGreaterThan(FREE.cloudWatch.metricsOfDashboard);
  });
});

describe('the batches of the tables', () => {
  const policy = aPolicy({ maxSize: 10, maxWait: 1_000 });

  it("contain every task once, within the policy's maxSize and maxWait", () => {
    const sealed = batchesOf(byChance(8, 2_000), policy);
    expect(sealed.reduce((sum, { size }) => sum + size, 0)).toBe(2_000);
    expect(Math.max(...sealed.map(({ size }) => size))).toBe(10);
    expect(Math.max(...sealed.flatMap(({ waits }) => waits))).toBeLessThanOrEqual(1_000.001);
  });

  it('are fuller if only one may be under way', () => {
    const arrivals = byChance(5, 2_000);
    const [alone, capped] = [null, 1].map(
      (perTarget) => batchesOf(arrivals, policy, { takes: 3_000, perTarget }).length,
    );
    expect(capped).toBeLessThan(alone ?? 0);
  });
});

describe('the known bugs', () => {
  const page = readFileSync(join(ROOT, 'docs/evidence/reliability.md'), 'utf8');
  const folder = join(ROOT, 'verification/known-bugs');

  it('have their count for each file of the catalogue on the page', async () => {
    const rows = [...page.matchAll(/^\|[^|]+\| (\d+) \| `([\w-]+\.ts)` \|/gm)].map(([, count, file]) => [
      file,
      Number(count),
    ]);
    const lists: [string, number][] = [];
    for (const file of readdirSync(folder)) {
      const exported = (await import(join(folder, file))) as Record<string, unknown>;
      for (const [name, bugs] of Object.entries(exported))
        if (/^[A-Z_]+_BUGS$/.test(name) && name !== 'KNOWN_BUGS' && Array.isArray(bugs))
          lists.push([file, bugs.length]);
    }
    expect(rows.toSorted()).toEqual(lists.toSorted());
  });
});
