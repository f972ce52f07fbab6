/** A first-in, first-out queue. Taking the first element takes constant amortized time. */
export class Fifo<T> implements Iterable<T> {
  #places: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#places.length - this.#head;
  }

  push(each: T): void {
    this.#places.push(each);
  }

  /** @param index counted from the front */
  take(index: number): T {
    const at = this.#head + index;
    const taken = this.#places[at] as T;
    if (index > 0) {
      this.#places.splice(at, 1);
      return taken;
    }
    this.#places[at] = undefined;
    this.#head += 1;
    if (this.#head > ROOM && this.#head * 2 > this.#places.length) {
      this.#places = this.#places.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#head; at < this.#places.length; at += 1) yield this.#places[at] as T;
  }
}

/** When more than this number of elements have been taken from the front, their empty places are removed. */
const ROOM = 1_000;

/** When more than this number of keys at the front are deleted, they are removed from the array. */
const SLACK = 1_000;

/**
 * A map that can return its first values in the order of keys. It is fast if most keys arrive in order and are deleted
 * from the front.
 */
export class SortedRows<V> extends Map<string, V> {
  #keys: string[] = [];
  /** All keys before this index are deleted. */
  #head = 0;

  override set(key: string, value: V): this {
    if (!this.has(key)) this.#insert(key);
    return super.set(key, value);
  }

  /** A deleted key stays in `#keys` until no undeleted key is in front of it. */
  override delete(key: string): boolean {
    const was = super.delete(key);
    while (this.#head < this.#keys.length && !this.has(this.#keys[this.#head] as string)) this.#head += 1;
    if (this.#head > SLACK && this.#head * 2 > this.#keys.length) {
      this.#keys = this.#keys.slice(this.#head);
      this.#head = 0;
    }
    return was;
  }

  /** The first values in the order of keys, at most `limit`. */
  first(limit: number): V[] {
    const rows: V[] = [];
    for (let at = this.#head; at < this.#keys.length && rows.length < limit; at += 1) {
      const value = this.get(this.#keys[at] as string);
      if (value !== undefined) rows.push(value);
    }
    return rows;
  }

  #insert(key: string): void {
    let [low, high] = [this.#head, this.#keys.length];
    if (low < high && key > (this.#keys[high - 1] as string)) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    if (this.#keys[low] !== key) this.#keys.splice(low, 0, key);
  }
}
