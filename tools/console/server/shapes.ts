/**
 * What the console's server tells its page, beside the answers of the HTTP API, which it hands through under `/v1`.
 *
 * | | |
 * |---|---|
 * | `GET /console/about` | {@link About} |
 * | `GET /console/live?get=/v1/operations&get=/v1/targets?…` | server-sent events ({@link LiveEvents}): what these calls answer, whenever it has changed, the metrics, and what all that costs |
 *
 * Nobody is asked anything while no page is open.
 */
import type { DimensionName, MetricName } from '../../../src/domain/events/metrics.ts';

/** Of a call that is made for a page, in characters: as long as a Target and a cursor in a query are together, and some. */
export const PATH_LENGTH_MAX = 2_000;

/** What the page is about. */
export interface About {
  /** Of what: this machine's stack, a deployed one, or whatever has its API there. */
  readonly source:
    | { readonly kind: 'local' }
    | { readonly kind: 'stack'; readonly name: string; readonly region: string }
    | { readonly kind: 'api'; readonly url: string };
  readonly version: string;
  readonly operations: readonly string[];
  /**
   * The most that all pages of this server together ask for, in read units of DynamoDB an hour: they are asked for more
   * seldom before it costs more.
   */
  readonly readUnitsPerHourMax: number;
  /** Where the metrics come from, how often they are looked at, and what an hour of that costs. From nowhere: there are none. */
  readonly metrics: {
    readonly from: 'this-process' | 'cloudwatch' | 'nowhere';
    readonly everySeconds: number;
    readonly dollarsPerHour: number;
  };
}

/** Server-sent events by their names; the data are JSON. */
export interface LiveEvents {
  /** A call's answer is another one than before. */
  readonly answer: { readonly path: string; readonly status: number; readonly body: unknown };
  /** A call could not be made at all: why, in words. It is tried again. The path `metrics` stands for the metrics. */
  readonly trouble: { readonly path: string; readonly reason: string };
  readonly metrics: MetricsView;
  readonly usage: Usage;
  /** Says nothing but that somebody is there, every {@link HEARTBEAT_EVERY}. */
  readonly heartbeat: Readonly<Record<string, never>>;
}

/** What all pages of this server have cost since this one was opened, as DynamoDB says. */
export interface Usage {
  readonly readUnits: number;
  readonly seconds: number;
  /** At the present rate. */
  readonly readUnitsPerHour: number;
  /** Until the next round of calls. */
  readonly everySeconds: number;
}

/** The metrics of the last while. */
export interface MetricsView {
  /** Milliseconds of the epoch: when the first step began. */
  readonly from: number;
  /** Milliseconds that each step has. */
  readonly step: number;
  /** Those of which there was anything meanwhile. */
  readonly series: readonly Series[];
  readonly totals: Totals;
}

/** Sums that are exact. */
export interface Totals {
  /** Milliseconds of the epoch: since the local stack was started; of a deployed one, since `from`. */
  readonly since: number;
  /** Of each of which there is anything. */
  readonly operations: readonly OperationTotals[];
}

export interface OperationTotals {
  readonly operation: string;
  readonly tasksRegistered: number;
  readonly tasksSucceeded: number;
  readonly tasksFailed: number;
  /** That were sealed. */
  readonly batches: number;
  /** Of the downstream. */
  readonly calls: number;
  /** Tasks that have ended less calls, which they would have taken one by one; 0 where there were more calls. */
  readonly callsSaved: number;
}

/**
 * One metric with its dimensions. Each list has an element a step, the oldest first. Of counts CloudWatch is asked for
 * `sum` alone: `count` and `max` are 0.
 */
export interface Series {
  readonly metric: MetricName;
  readonly of: Readonly<Partial<Record<DimensionName, string>>>;
  readonly sum: readonly number[];
  /** How many values: the mean is `sum / count`. */
  readonly count: readonly number[];
  /** The largest value; 0 where there is none. */
  readonly max: readonly number[];
}

/** Milliseconds. A page that hears nothing for twice as long knows that nobody is there any more. */
export const HEARTBEAT_EVERY = 15_000;
