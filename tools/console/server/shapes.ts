/**
 * What the console's server sends to its page, besides the answers of the HTTP API, which it passes on under `/v1`.
 *
 * | | |
 * |---|---|
 * | `GET /console/about` | {@link About} |
 * | `GET /console/live?get=/v1/operations&get=/v1/targets?…` | server-sent events ({@link LiveEvents}): changed answers of these calls, the metrics, and the cost of the calls |
 *
 * The server makes no calls while no page is open.
 */
import type { DimensionName, MetricName } from '../../../src/domain/events/metrics.ts';

/** The longest path of a call for a page, in characters: enough for a Target and a cursor in the query. */
export const PATH_LENGTH_MAX = 2_000;

/** What the page shows. */
export interface About {
  /** The source: this machine's stack, a deployed stack, or the API at a URL. */
  readonly source:
    | { readonly kind: 'local' }
    | { readonly kind: 'stack'; readonly name: string; readonly region: string }
    | { readonly kind: 'api'; readonly url: string };
  readonly version: string;
  readonly operations: readonly string[];
  /**
   * The limit of all pages of this server together, in DynamoDB read units an hour. The server makes fewer calls to
   * stay below it.
   */
  readonly readUnitsPerHourMax: number;
  /** The source of the metrics, how often it is read, and what that costs. `nowhere`: there are no metrics. */
  readonly metrics: {
    readonly from: 'this-process' | 'cloudwatch' | 'nowhere';
    readonly everySeconds: number;
    readonly dollarsPerHour: number;
  };
}

/** Server-sent events by their names; the data are JSON. */
export interface LiveEvents {
  /** The answer of a call has changed. */
  readonly answer: { readonly path: string; readonly status: number; readonly body: unknown };
  /** A call could not be made; `reason` says why. It is repeated. The path `metrics` stands for the metrics. */
  readonly trouble: { readonly path: string; readonly reason: string };
  readonly metrics: MetricsView;
  readonly usage: Usage;
  /** Sent every {@link HEARTBEAT_EVERY}, to show that the connection works. */
  readonly heartbeat: Readonly<Record<string, never>>;
}

/** What all pages of this server have cost since this page was opened, as DynamoDB reports it. */
export interface Usage {
  readonly readUnits: number;
  readonly seconds: number;
  /** At the current rate. */
  readonly readUnitsPerHour: number;
  /** Until the next round of calls. */
  readonly everySeconds: number;
}

/** The recent metrics. */
export interface MetricsView {
  /** When the first step began, in milliseconds since the epoch. */
  readonly from: number;
  /** The length of a step, in milliseconds. */
  readonly step: number;
  /** The metrics that have a value in this time. */
  readonly series: readonly Series[];
  readonly totals: Totals;
}

/** Exact sums. */
export interface Totals {
  /** Milliseconds since the epoch. A local stack: its start. A deployed stack: `from`. */
  readonly since: number;
  /** The operations that have a value. */
  readonly operations: readonly OperationTotals[];
}

export interface OperationTotals {
  readonly operation: string;
  readonly tasksRegistered: number;
  readonly tasksSucceeded: number;
  readonly tasksFailed: number;
  /** Sealed batches. */
  readonly batches: number;
  /** Calls of the downstream. */
  readonly calls: number;
  /** Tasks that ended, minus calls: the calls saved compared with one for each task. At least 0. */
  readonly callsSaved: number;
}

/**
 * One metric with its dimensions. Each list has one element for each step, the oldest first. CloudWatch is queried only
 * for the `sum` of counts: their `count` and `max` are 0.
 */
export interface Series {
  readonly metric: MetricName;
  readonly of: Readonly<Partial<Record<DimensionName, string>>>;
  readonly sum: readonly number[];
  /** Number of values: the mean is `sum / count`. */
  readonly count: readonly number[];
  /** The largest value; 0 if there is none. */
  readonly max: readonly number[];
}

/** In milliseconds. A page that receives nothing for twice as long treats the connection as lost. */
export const HEARTBEAT_EVERY = 15_000;
