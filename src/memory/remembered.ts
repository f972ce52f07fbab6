/** A table that remembers its recent values, for eventually consistent reads. */
import type { Millis } from '../domain/ids.ts';

/**
 * Maximum time by which an eventually consistent read is behind, in ms. DynamoDB is usually behind by a fraction of a
 * second, and guarantees no limit.
 */
export const MAX_LAG: Millis = 3_000;

/** Returns the time by which a read is behind, in ms. It is called again for each read. */
export type Lag = () => Millis;

export const upToDate: Lag = () => 0;

interface Change<K, V> {
  readonly at: Millis;
  readonly key: K;
  /** The value before the change; undefined if there was no row. */
  readonly before: V | undefined;
}

/**
 * A map that remembers its changes of the last {@link MAX_LAG}. Each change removes the remembered changes that are
 * older than twice that time.
 */
export class Remembered<K, V> extends Map<K, V> {
  readonly #now: () => Millis;
  #changes: Change<K, V>[] = [];

  constructor(now: () => Millis) {
    super();
    this.#now = now;
  }

  override set(key: K, value: V): this {
    this.#remember(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#remember(key);
    return super.delete(key);
  }

  /**
   * The rows as they were `lag` ms ago, where `lag` is at most {@link MAX_LAG}. Rows are replaced, never changed in
   * place.
   */
  before(lag: Millis): ReadonlyMap<K, V> {
    const moment = this.#now() - lag;
    const later = this.#changes.filter(({ at }) => at > moment);
    if (later.length === 0) return this;
    const then = new Map(this);
    for (const { key, before } of later.toReversed()) {
      if (before === undefined) then.delete(key);
      else then.set(key, before);
    }
    return then;
  }

  /** One row as it was `lag` ms ago. */
  rowBefore(key: K, lag: Millis): V | undefined {
    const moment = this.#now() - lag;
    const change = this.#changes.find((each) => each.key === key && each.at > moment);
    return change ? change.before : this.get(key);
  }

  #remember(key: K): void {
    const at = this.#now();
    // Remove old changes only from time to time, because each removal reads all changes.
    if (this.#changes.length > 0 && (this.#changes[0] as Change<K, V>).at < at - 2 * MAX_LAG)
      this.#changes = this.#changes.filter((change) => change.at >= at - MAX_LAG);
    this.#changes.push({ at, key, before: this.get(key) });
  }
}

/** The table as an eventually consistent read sees it. If the table does not remember its changes, its current rows. */
export const behind = <K, V>(table: ReadonlyMap<K, V>, lag: Millis): ReadonlyMap<K, V> =>
  table instanceof Remembered ? table.before(lag) : table;

/** One row as an eventually consistent read sees it. */
export const rowBehind = <K, V>(table: ReadonlyMap<K, V>, key: K, lag: Millis): V | undefined =>
  table instanceof Remembered ? table.rowBefore(key, lag) : table.get(key);
