/** A Target's waiting rows kept in their turns, so that the first of many are had without sorting them all. */

/** How many keys in front are gone before they are dropped. */
const SLACK = 1_000;

/** A map by key that knows its first values by key. Rows mostly come in their turns, and leave from the front. */
export class RowsInTurn<V> extends Map<string, V> {
  #keys: string[] = [];
  /** Keys in front of it are deleted. */
  #head = 0;

  override set(key: string, value: V): this {
    if (!this.has(key)) this.#insert(key);
    return super.set(key, value);
  }

  /** Its key stays until it comes to the front. */
  override delete(key: string): boolean {
    const was = super.delete(key);
    while (this.#head < this.#keys.length && !this.has(this.#keys[this.#head] as string)) this.#head += 1;
    if (this.#head > SLACK && this.#head * 2 > this.#keys.length) {
      this.#keys = this.#keys.slice(this.#head);
      this.#head = 0;
    }
    return was;
  }

  /** The first values by key, at most `limit`. */
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
