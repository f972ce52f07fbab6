/** A table that knows what it showed a moment ago, for reads that are eventually consistent. */
import type { Millis } from '../domain/ids.ts';

/** The most that such a read is behind. DynamoDB mostly takes a fraction of a second, and promises nothing. */
export const MAX_LAG: Millis = 3_000;

/** How far a read is behind; each read asks anew. */
export type Lag = () => Millis;

export const upToDate: Lag = () => 0;

interface Change<K, V> {
  readonly at: Millis;
  readonly key: K;
  /** Undefined if there was no such row. */
  readonly before: V | undefined;
}

/** A map with the changes of its last {@link MAX_LAG}. Those that are twice as old go with the next change. */
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

  /** The rows as they were `lag` ago, at most {@link MAX_LAG}; rows of a map cannot change by themselves. */
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

  /** One row as it was `lag` ago. */
  rowBefore(key: K, lag: Millis): V | undefined {
    const moment = this.#now() - lag;
    const change = this.#changes.find((each) => each.key === key && each.at > moment);
    return change ? change.before : this.get(key);
  }

  #remember(key: K): void {
    const at = this.#now();
    // Now and then: each time would cost as much as there are changes.
    if (this.#changes.length > 0 && (this.#changes[0] as Change<K, V>).at < at - 2 * MAX_LAG)
      this.#changes = this.#changes.filter((change) => change.at >= at - MAX_LAG);
    this.#changes.push({ at, key, before: this.get(key) });
  }
}

/** What an eventually consistent read of a table sees. One that remembers nothing shows what it holds. */
export const behind = <K, V>(table: ReadonlyMap<K, V>, lag: Millis): ReadonlyMap<K, V> =>
  table instanceof Remembered ? table.before(lag) : table;

/** The same of one row. */
export const rowBehind = <K, V>(table: ReadonlyMap<K, V>, key: K, lag: Millis): V | undefined =>
  table instanceof Remembered ? table.rowBefore(key, lag) : table.get(key);
