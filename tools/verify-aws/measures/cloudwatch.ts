/** Reads metrics and logs of a time span from CloudWatch. */
import { CloudWatchClient, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import type { Spread } from '../../simulate/outcome.ts';
import { Spreading } from '../../simulate/spread.ts';
import type { Span } from '../loads/span.ts';
import type { Query } from './figures.ts';
import type { Resources } from './resources.ts';

/** Queries that a request may have. */
const QUERIES_AT_ONCE = 500;

/** @returns for each query the values of the minutes that have one */
export const readMetrics = async (
  region: string,
  queries: readonly Query[],
  { from, until }: Span,
): Promise<readonly (readonly number[])[]> => {
  const client = new CloudWatchClient({ region });
  const values: number[][] = queries.map(() => []);
  for (let start = 0; start < queries.length; start += QUERIES_AT_ONCE) {
    const part = queries.slice(start, start + QUERIES_AT_ONCE);
    const input = {
      StartTime: new Date(from),
      EndTime: new Date(until),
      MetricDataQueries: part.map(({ namespace, metric, dimensions, statistic }, index) => ({
        Id: `m${start + index}`,
        MetricStat: {
          Metric: {
            Namespace: namespace,
            MetricName: metric,
            Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
          },
          Period: 60,
          Stat: statistic,
        },
      })),
    };
    for await (const { MetricDataResults = [] } of paginateGetMetricData({ client }, input))
      for (const { Id = '', Values = [] } of MetricDataResults) values[Number(Id.slice(1))]?.push(...Values);
  }
  return values;
};

/** What the functions' logs show. */
export interface Logged {
  /** Durations of the cold starts, in ms. Undefined if the log has no reports of Lambda. */
  readonly coldStarts: Spread | undefined;
  /** Guards that were received before their leader had stored the hand-over. Undefined without log lines. */
  readonly earlyGuards: number | undefined;
}

export const NOTHING_LOGGED: Logged = { coldStarts: undefined, earlyGuards: undefined };

export const readLogs = async (region: string, { functions }: Resources, span: Span): Promise<Logged> => {
  const client = new CloudWatchLogsClient({ region });
  const coldStarts = new Spreading();
  let [reports, lines, earlyGuards] = [0, 0, 0];
  for (const { logGroup } of Object.values(functions)) {
    for await (const message of linesOf(client, logGroup, '"initDurationMs"', span)) {
      const took = initDurationIn(message);
      if (took === undefined) continue;
      reports += 1;
      coldStarts.add(took);
    }
    for await (const message of linesOf(client, logGroup, '"early-guard"', span))
      if (eventOf(message) === 'early-guard') earlyGuards += 1;
    if (lines === 0 && (await hasLines(client, logGroup, span))) lines += 1;
  }
  return {
    // Each function has at least one cold start, so none means that Lambda's reports are missing.
    coldStarts: reports > 0 ? coldStarts.spread : undefined,
    earlyGuards: lines > 0 ? earlyGuards : undefined,
  };
};

async function* linesOf(
  client: CloudWatchLogsClient,
  logGroupName: string,
  filterPattern: string,
  { from, until }: Span,
): AsyncGenerator<string> {
  const input = { logGroupName, filterPattern, startTime: from, endTime: until };
  for await (const { events = [] } of paginateFilterLogEvents({ client }, input))
    for (const { message = '' } of events) yield message;
}

const hasLines = async (client: CloudWatchLogsClient, logGroup: string, span: Span): Promise<boolean> => {
  for await (const message of linesOf(client, logGroup, '"registered"', span)) if (message) return true;
  return false;
};

/** The line that Lambda writes after an invocation, in its JSON format. */
const initDurationIn = (message: string): number | undefined => {
  const { type, record } = objectIn(message) as { type?: unknown; record?: { metrics?: { initDurationMs?: unknown } } };
  const took = record?.metrics?.initDurationMs;
  return type === 'platform.report' && typeof took === 'number' ? took : undefined;
};

/** The event of a line of the functions (lambdas/log.ts). */
const eventOf = (message: string): unknown => (objectIn(message) as { message?: unknown }).message;

const objectIn = (message: string): object => {
  try {
    const value: unknown = JSON.parse(message);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // Other lines, such as a function's console output, are not JSON.
    return {};
  }
};
