/** Whoever stands in line. The first may leave at no cost, however many stand behind. */
export class Line<T> implements Iterable<T> {
  #places: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#places.length - this.#head;
  }

  push(each: T): void {
    this.#places.push(each);
  }

  /** @param index from the front, within the line */
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

/** So many empty places in front are not worth moving everybody for. */
const ROOM = 1_000;
