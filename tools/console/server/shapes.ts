/**
 * What the console's server sends to its page, besides the answers of the HTTP API, which it passes on under `/v1`.
 *
 * | | |
 * |---|---|
 * | `GET /console/about` | {@link About} |
 * | `GET /console/live?get=/v1/operations&get=/v1/targets?…&window=21600000` | server-sent events ({@link LiveEvents}): changed answers of these calls, the metrics (also of a longer time range), and the cost of the calls |
 * | `GET /console/search?q=DHL`; with `full=1` all results | {@link Found} |
 * | `GET /console/advice?operation=NAME` | {@link Advice} |
 *
 * The server makes no calls while no page is open.
 */
import type { DimensionName, MetricName } from '../../../src/domain/events/metrics.ts';

/** Maximum length of the path of a live call, in characters. It is enough for a Target and a cursor in the query. */
export const PATH_LENGTH_MAX = 2_000;

/** What the server tells the page about itself and the stack. */
export interface About {
  /** The stack that the console shows: this machine's stack, a deployed stack, or the API at a URL. */
  readonly source:
    | { readonly kind: 'local' }
    | { readonly kind: 'stack'; readonly name: string; readonly region: string }
    | { readonly kind: 'api'; readonly url: string };
  readonly version: string;
  readonly operations: readonly string[];
  /**
   * Maximum number of DynamoDB read units an hour, for all pages of this server together. The server makes fewer calls
   * to stay below this limit.
   */
  readonly readUnitsPerHourMax: number;
  /** The source of the metrics, how often it is read, and what the reads cost. `nowhere`: there are no metrics. */
  readonly metrics: {
    readonly from: 'this-process' | 'cloudwatch' | 'nowhere';
    readonly everySeconds: number;
    readonly dollarsPerHour: number;
    /** The length of the usual time range, in milliseconds: that of the event `metrics`. */
    readonly window: number;
    /** The time ranges that the charts can show, the shortest first. Empty if there are no metrics. */
    readonly windows: readonly MetricsWindow[];
  };
}

/** A time range of the charts. */
interface MetricsWindow {
  /** Its length, in milliseconds. */
  readonly millis: number;
  /** How often its metrics are read, in seconds. */
  readonly everySeconds: number;
}

/** Server-sent events by their names; the data are JSON. */
export interface LiveEvents {
  /** The answer of a call, sent whenever it has changed. */
  readonly answer: { readonly path: string; readonly status: number; readonly body: unknown };
  /**
   * A call could not be made; `reason` says why. The server repeats the call. The paths `metrics` and `charts` stand for
   * reading the metrics.
   */
  readonly trouble: { readonly path: string; readonly reason: string };
  /** The metrics of the usual time range. */
  readonly metrics: MetricsView;
  /** The metrics of the longer time range that the page asked for. */
  readonly charts: MetricsView;
  readonly usage: Usage;
  /** Sent every {@link HEARTBEAT_EVERY} ms, to show that the connection works. */
  readonly heartbeat: Readonly<Record<string, never>>;
}

/** The cost of all pages of this server since this page was opened, as DynamoDB reports it. */
export interface Usage {
  readonly readUnits: number;
  readonly seconds: number;
  /** Read units per hour at the current rate. */
  readonly readUnitsPerHour: number;
  /** Seconds from one round of calls to the next. */
  readonly everySeconds: number;
}

/** What a search found among the names that the server knows. */
export interface Found {
  readonly query: string;
  /** The hits by kind. Kinds without a hit are left out. */
  readonly groups: readonly FoundGroup[];
  /** Which names were searched. */
  readonly searched: readonly Searched[];
  /** Whether the server is still reading names. A search a second later may find more. */
  readonly isReading: boolean;
  /** When the names were read, in milliseconds since the epoch. */
  readonly readAt?: number;
  /** Why some names could not be read. */
  readonly trouble?: string;
}

export interface FoundGroup {
  readonly kind: Hit['kind'];
  /** The best hits, the best first. */
  readonly hits: readonly Hit[];
  /** Number of hits among the names that were searched. */
  readonly total: number;
}

export interface Hit {
  readonly kind: 'task' | 'batch' | 'operation' | 'target' | 'fan-out' | 'list' | 'fleet';
  readonly id: string;
  /** The name of a list, or the user key of a fan-out. */
  readonly about?: string;
  /** Whether its id is exactly the query, except for the case. */
  readonly isExact?: true;
}

/** The searched names of one kind, or of the Targets of one operation. */
export interface Searched {
  readonly kind: Hit['kind'];
  readonly operation?: string;
  readonly names: number;
  /** Whether there are no other names. */
  readonly isAll: boolean;
}

/** Advice about an operation's batch policy, from its own figures and simulations. Texts are sentences for the user. */
export interface Advice {
  readonly operation: string;
  /**
   * `change`: a longer wait would save calls. `nothing`: there is nothing to improve. `too-few-figures`: too little was
   * measured. `other-load`: the simulator cannot reproduce what was measured.
   */
  readonly kind: 'change' | 'nothing' | 'too-few-figures' | 'other-load';
  /** The measured figures, and their time range. */
  readonly measured?: string;
  /** The advice with its gain and its cost, or the reason why there is none. */
  readonly text: string;
  /** With `change`: the setting, and its values as in a configuration file. */
  readonly change?: { readonly setting: string; readonly from: string; readonly to: string };
  /** What the simulations assumed. */
  readonly basis?: string;
}

/** The recent metrics. */
export interface MetricsView {
  /** The start of the first step, in milliseconds since the epoch. */
  readonly from: number;
  /** The length of a step, in milliseconds. */
  readonly step: number;
  /** Number of steps. */
  readonly steps: number;
  /** The metrics that have at least one value in the time range. */
  readonly series: readonly Series[];
  readonly totals: Totals;
}

/** Totals of the metrics, as exact sums. */
export interface Totals {
  /**
   * The time from which on values are summed, in milliseconds since the epoch. A local stack: its first start, if
   * its data folder has the earlier metrics. A deployed stack: `from`.
   */
  readonly since: number;
  /** The operations that have at least one value. */
  readonly operations: readonly OperationTotals[];
}

export interface OperationTotals {
  readonly operation: string;
  readonly tasksRegistered: number;
  readonly tasksSucceeded: number;
  readonly tasksFailed: number;
  /** Number of sealed batches. */
  readonly batches: number;
  /** Number of calls of the downstream. */
  readonly calls: number;
  /**
   * The number of calls that batching saved compared with one call for each task: ended tasks minus calls. At least 0.
   */
  readonly callsSaved: number;
}

/**
 * One metric with its dimensions. Each list has one element for each step, oldest first. For counts of events, CloudWatch
 * is queried only for `sum`, so `count` and `max` are 0.
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

/**
 * How often the server sends a heartbeat, in milliseconds. If a page receives nothing for twice this time, it treats
 * the connection as lost.
 */
export const HEARTBEAT_EVERY = 15_000;
