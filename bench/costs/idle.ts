/** What a stack with one operation and no destinations costs in a month of 30 days in which no task arrives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stackNames } from '../../lib/stage.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { AWS } from '../../tools/simulate/platform.ts';
import { FREE, PRICES } from '../../tools/simulate/prices.ts';

export interface IdleItem {
  readonly what: string;
  readonly amount: string;
  readonly price: string;
  /** In dollars a month, in whole cents. */
  readonly dollars: number;
  /** The same beyond the free tier of every account. */
  readonly beyondFree: number;
  /** Whether only the ops stack causes it. */
  readonly isOps: boolean;
}

type Resources = Readonly<
  Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
>;

const MINUTES = 30 * 24 * 60;
const MILLION = 1_000_000;
const GIGABYTE = 1_000_000_000;

/** An event source keeps five long polls open, each for 20 seconds. */
const POLLS_PER_MINUTE = 5 * 3;
/** Measured: an idle sweep waits a second for dead letters, and reads the rows of one operation. */
const SWEEP = { seconds: 1.1, readUnits: 8.5, writeUnits: 1, bytesOfLogs: 1_000 };
/** The size of the log line that contains a metric, in bytes. */
const METRIC_LINE = 250;

interface Counts {
  readonly resources: number;
  readonly eventSources: number;
  readonly deadLetterQueues: number;
  readonly alarms: number;
  /** The number of different metrics on the dashboard. */
  readonly metricsOfDashboard: number;
}

let counted: Counts | undefined;

/** The counts of resources in the synthesised app, without the metadata of the CDK. Synthesised once. */
export const counts = (): Counts => {
  counted ??= count();
  return counted;
};

const count = (): Counts => {
  const parsed = parseConfig({
    operations: { ship: { target: ['depot'], downstream: { kind: 'http', url: 'https://parcels.example/batch' } } },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const folder = synthesise(parsed.value);
  const all = Object.values(stackNames('local')).flatMap((stack) => {
    const { Resources } = JSON.parse(readFileSync(join(folder, `${stack}.template.json`), 'utf8')) as {
      Resources: Resources;
    };
    return Object.values(Resources);
  });
  const ofType = (type: string) => all.filter(({ Type }) => Type === type);
  return {
    resources: all.length,
    eventSources: ofType('AWS::Lambda::EventSourceMapping').length,
    deadLetterQueues: ofType('AWS::SQS::Queue').filter(({ Properties }) => Properties?.RedrivePolicy).length,
    alarms: ofType('AWS::CloudWatch::Alarm').length,
    metricsOfDashboard: ofType('AWS::CloudWatch::Dashboard').reduce(
      (sum, { Properties }) => sum + metricsIn(Properties?.DashboardBody),
      0,
    ),
  };
};

/** @param body of a dashboard: JSON with references in it. */
const metricsIn = (body: unknown): number => {
  const [, parts] = (body as { 'Fn::Join': [string, readonly unknown[]] })['Fn::Join'];
  // A reference stands inside a string of the JSON.
  const text = parts.map((part) =>
    typeof part === 'string' ? part : JSON.stringify(JSON.stringify(part)).slice(1, -1),
  );
  const { widgets } = JSON.parse(text.join('')) as {
    widgets: readonly { readonly properties: { readonly metrics?: readonly (readonly unknown[])[] } }[];
  };
  // The names and dimensions of a metric are strings. An expression has none.
  const metrics = widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .map((line) => line.filter((each) => typeof each === 'string'));
  return new Set(metrics.filter(({ length }) => length > 0).map((each) => JSON.stringify(each))).size;
};

/** All items, in the order of the page. */
export const idleItems = (): readonly IdleItem[] => itemsOf(counts());

/** The cost of an idle stack in dollars a month. */
export const idlePerMonth = (): number => idleItems().reduce((sum, { dollars }) => sum + dollars, 0);

const itemsOf = ({ eventSources, deadLetterQueues, alarms, metricsOfDashboard }: Counts): readonly IdleItem[] => {
  const { sqs, lambda, dynamodb, cloudWatch } = PRICES;
  const receives = (requests: number, free: number) => ({
    amount: `${whole(requests)} receives`,
    price: `$${sqs.perMillionRequests.toFixed(2)} per million`,
    ...priced(requests, free, sqs.perMillionRequests / MILLION),
  });
  const polls = eventSources * POLLS_PER_MINUTE * MINUTES;
  const seconds = MINUTES * SWEEP.seconds * AWS.memory;
  const reads = MINUTES * SWEEP.readUnits;
  const writes = MINUTES * SWEEP.writeUnits;
  const logs = (MINUTES * SWEEP.bytesOfLogs) / GIGABYTE;
  const lines = (MINUTES * METRIC_LINE) / GIGABYTE;
  const freeDashboards = metricsOfDashboard > FREE.cloudWatch.metricsOfDashboard ? 0 : FREE.cloudWatch.dashboards;
  const items: (Omit<IdleItem, 'isOps'> & { readonly isOps?: true })[] = [
    {
      what: `event sources: ${eventSources} × 5 pollers × 3 long polls of 20 s a minute`,
      ...receives(polls, FREE.sqs.requests),
    },
    { what: `sweep: ${deadLetterQueues} dead-letter queues a minute`, ...receives(deadLetterQueues * MINUTES, 0) },
    {
      what: 'sweep, invocations',
      amount: whole(MINUTES),
      price: `$${lambda.perMillionInvocations.toFixed(2)} per million`,
      ...priced(MINUTES, FREE.lambda.invocations, lambda.perMillionInvocations / MILLION),
    },
    {
      what: 'sweep, time',
      amount: `${whole(MINUTES)} × ${SWEEP.seconds} s × ${AWS.memory} GB = ${whole(seconds)} GB-s`,
      price: `$${lambda.perGigabyteSecond} per GB-s (arm64)`,
      ...priced(seconds, FREE.lambda.gigabyteSeconds, lambda.perGigabyteSecond),
    },
    {
      what: 'sweep, reads',
      amount: `${whole(reads)} read units`,
      price: `$${dynamodb.perMillionReadUnits} per million`,
      ...priced(reads, 0, dynamodb.perMillionReadUnits / MILLION),
    },
    {
      what: 'sweep, its mark',
      amount: `${whole(writes)} write units`,
      price: `$${dynamodb.perMillionWriteUnits} per million`,
      ...priced(writes, 0, dynamodb.perMillionWriteUnits / MILLION),
    },
    {
      what: 'logs: about 1 KB a run',
      amount: `${whole(logs * 1_000)} MB`,
      price: `$${cloudWatch.perGigabyteOfLogs.toFixed(2)} per GB`,
      ...priced(logs, FREE.cloudWatch.gigabytesOfLogs, cloudWatch.perGigabyteOfLogs),
    },
    {
      what: '[metrics](../reference/metrics.md#what-they-cost): `OldestWaiting` of one operation, with its log lines',
      amount: '1',
      price: `$${cloudWatch.perMetricMonth.toFixed(2)} a month, $${cloudWatch.perGigabyteOfLogs.toFixed(2)} per GB`,
      dollars: cents(cloudWatch.perMetricMonth + lines * cloudWatch.perGigabyteOfLogs),
      beyondFree: 0,
    },
    {
      what: `dashboard, with ${metricsOfDashboard} metrics`,
      amount: '1',
      price: `$${cloudWatch.perDashboardMonth.toFixed(2)} a month`,
      ...priced(1, freeDashboards, cloudWatch.perDashboardMonth),
      isOps: true,
    },
    {
      what: 'alarms',
      amount: String(alarms),
      price: `$${cloudWatch.perAlarmMonth.toFixed(2)} a month`,
      ...priced(alarms, FREE.cloudWatch.alarms, cloudWatch.perAlarmMonth),
      isOps: true,
    },
  ];
  return items.map((item) => ({ isOps: false, ...item }));
};

/** @param free how many of the units cost nothing */
const priced = (units: number, free: number, perUnit: number): Pick<IdleItem, 'dollars' | 'beyondFree'> => ({
  dollars: cents(units * perUnit),
  beyondFree: cents(Math.max(0, units - free) * perUnit),
});

/** Rounded, so that the figures of the page add up. */
const cents = (dollars: number): number => Math.round(dollars * 100) / 100;

const whole = (amount: number): string => Math.round(amount).toLocaleString('en');
