/** The store of the published algorithm: two hash tables by partition. */
export class RaceStore {
  /** The host that works on each partition. */
  readonly #allocated = new Map<string, string>();
  /** The host that won the present race for each partition. */
  readonly #grabbed = new Map<string, string>();

  allocatedTo(partition: string): string | undefined {
    return this.#allocated.get(partition);
  }

  grabbedBy(partition: string): string | undefined {
    return this.#grabbed.get(partition);
  }

  /** Sets the winner of a race, unless there is one. @returns the winner */
  grab(partition: string, by: string): string {
    const winner = this.#grabbed.get(partition) ?? by;
    this.#grabbed.set(partition, winner);
    return winner;
  }

  /** Ends a race. Its winner deletes only its own result. */
  endRace(partition: string, by: string): void {
    if (this.#grabbed.get(partition) === by) this.#grabbed.delete(partition);
  }

  allocate(partition: string, to: string): void {
    this.#allocated.set(partition, to);
  }

  /** A host that has stopped its work deletes its entry. If another host has started already, its entry stays. */
  deallocate(partition: string, by: string): void {
    if (this.#allocated.get(partition) === by) this.#allocated.delete(partition);
  }

  /** Deletes what a host left behind that died in a race. */
  clear(partition: string): void {
    this.#allocated.delete(partition);
    this.#grabbed.delete(partition);
  }
}
