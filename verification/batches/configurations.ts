/** The successive configurations of a schedule, and the configurations that a running function may have. */

import { type Config, KEEP_AUDIT, NO_ALARMS, type Operation } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { START } from '../../src/virtual/trace.ts';

/** A configuration of these operations, in which fan-outs and lists are kept for a week. */
export const configOf = (
  register: Config['register'],
  operations: Config['operations'],
  destinations: Config['destinations'] = {},
): Config => ({
  version: 1,
  register,
  operations,
  sources: {},
  limits: {},
  fanOuts: { idleOpen: 120 * MINUTE, idleSealed: WEEK, keep: WEEK, callback: null },
  lists: { keep: WEEK, callback: null, maxDeliveries: 5 },
  alarms: NO_ALARMS,
  keepAudit: KEEP_AUDIT,
  destinations,
});

const WEEK: Millis = 7 * 24 * 60 * MINUTE;

/**
 * The configuration with a change to each of its operations.
 * @param change returns the changed fields of an operation
 */
export const withOperations = (config: Config, change: (operation: Operation) => Partial<Operation>): Config => ({
  ...config,
  operations: Object.fromEntries(
    Object.entries(config.operations).map(([name, operation]) => [name, { ...operation, ...change(operation) }]),
  ),
});

/** A deployment of another configuration. */
export interface ConfigChange {
  /** In ms from the start. */
  readonly at: Millis;
  /** @default - all operations */
  readonly operation?: OperationName;
  /**
   * The changed fields. They keep their values until a later change; null removes the operation until its next change.
   */
  readonly to: Partial<Operation> | null;
  /** The limits from then on. @default - as before */
  readonly limits?: Config['limits'];
}

/** A configuration, and the moment from which functions start with it. */
export interface Configured {
  readonly from: Millis;
  readonly config: Config;
}

/**
 * How long a function may run with the configuration that it started with, in ms: its timeout, a pause, and the
 * requests on which its client gave up.
 */
const FUNCTION_LIFE: Millis = 10 * MINUTE;

export class Configurations {
  readonly all: readonly Configured[];

  /** @param changes sorted by time */
  constructor(config: Config, changes: readonly ConfigChange[] = []) {
    const all: Configured[] = [{ from: Number.NEGATIVE_INFINITY, config }];
    let complete = config;
    const removed = new Set<string>();
    for (const { at, operation, to, limits } of changes) {
      const isMeant = ({ operation: name }: Operation): boolean => operation === undefined || name === operation;
      for (const each of Object.values(complete.operations).filter(isMeant))
        if (to) removed.delete(each.operation);
        else removed.add(each.operation);
      complete = withOperations(complete, (each) => (to && isMeant(each) ? to : {}));
      if (limits) complete = { ...complete, limits };
      const kept = Object.entries(complete.operations).filter(([name]) => !removed.has(name));
      all.push({ from: START + at, config: { ...complete, operations: Object.fromEntries(kept) } });
    }
    this.all = all;
  }

  /** Whether there is more than one configuration. */
  get change(): boolean {
    return this.all.length > 1;
  }

  /** Whether `what` differs between any two of the configurations. */
  changes(what: (config: Config) => unknown): boolean {
    return new Set(this.all.map(({ config }) => JSON.stringify(what(config)))).size > 1;
  }

  /** Operations that are removed at some time. Functions that read their rows fail until the operations are back. */
  get removed(): ReadonlySet<string> {
    const names = Object.keys(this.all[0]?.config.operations ?? {});
    return new Set(names.filter((name) => this.all.some(({ config }) => !Object.hasOwn(config.operations, name))));
  }

  /** The configuration of a function that starts at `now`. */
  at(now: Millis): Config {
    return (this.all.findLast(({ from }) => from <= now) as Configured).config;
  }

  /** The configurations that running functions may have. */
  recent(now: Millis): readonly Configured[] {
    return this.all.filter(({ from }, index) => {
      const until = this.all[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return from <= now && until > now - FUNCTION_LIFE;
    });
  }

  /**
   * Whether the batches that began at these moments and are not over are within the cap of some configuration that a
   * running function may have. A batch that may have begun under another configuration counts only towards the largest
   * cap, because a lowered cap does not end batches.
   *
   * @param most the cap of a configuration; null if it has no cap, undefined if the operation is removed
   */
  allow(now: Millis, begun: readonly Millis[], most: (config: Config) => number | null | undefined): boolean {
    return this.#everAllowed(now, begun, most) && this.#allowNow(now, begun, most);
  }

  /**
   * Whether the latest of these batches may begin under the cap of some configuration that a running function may still
   * have. All batches that are not over count, including those that began under another configuration or without a cap.
   */
  allowTheLast(now: Millis, begun: readonly Millis[], most: (config: Config) => number | null | undefined): boolean {
    return this.recent(now).some(({ config }) => {
      const cap = most(config);
      return cap === null || begun.length <= (cap ?? 0);
    });
  }

  /** Whether the number of batches is within the largest cap of any configuration since the oldest batch began. */
  #everAllowed(now: Millis, begun: readonly Millis[], most: (config: Config) => number | null | undefined): boolean {
    const oldest = Math.min(now, ...begun);
    const caps = this.all.flatMap(({ from, config }, index) => {
      const until = this.all[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return from <= now && until > oldest - FUNCTION_LIFE ? [most(config)] : [];
    });
    return caps.includes(null) || begun.length <= Math.max(...caps.map((cap) => cap ?? 0));
  }

  #allowNow(now: Millis, begun: readonly Millis[], most: (config: Config) => number | null | undefined): boolean {
    return this.recent(now).some(({ from, config }) => {
      const cap = most(config);
      return cap === null || begun.filter((at) => at >= from + FUNCTION_LIFE).length <= (cap ?? 0);
    });
  }
}
