/** Counts the messages of a function whose steps sleep, as leaders do through rests of less than a second. */
import { setTimeout } from 'node:timers/promises';

export class Sleepers {
  #count = 0;
  /** Runs whenever another message falls asleep. */
  onSleep: () => void = () => {};

  get count(): number {
    return this.#count;
  }

  readonly sleep = async (span: number): Promise<void> => {
    this.#count += 1;
    this.onSleep();
    await setTimeout(span);
    this.#count -= 1;
  };
}
