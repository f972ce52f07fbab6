/**
 * A host of the published algorithm. It receives one message after another; its waits and calls run side by side.
 *
 * For the host, a partition is in one of these states:
 * - of others: it opens a race when it has heard of none for a normal lease, and takes part in each race it hears of;
 * - won: it waits until the last owner has stopped, at most for the maximum shutdown time;
 * - its own: it works on the partition, and takes part in each race with a shorter wait than others;
 * - lost: it finishes the current unit of work, then reports that it has stopped.
 */
import type { Millis } from '../../../src/domain/ids.ts';
import type { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { Channel } from './channel.ts';
import type { RaceSpans } from './race-spans.ts';
import type { RaceStore } from './race-store.ts';
import { orFailed, type PlainWork } from './work.ts';

/** `grab`: the partition is up for a race. `allocated`: the last owner has stopped its work. */
export interface RaceNotice {
  readonly is: 'grab' | 'allocated';
  readonly partition: string;
}

export interface RacerDeps {
  readonly process: SimulatedProcess;
  readonly store: RaceStore;
  readonly channel: Channel<RaceNotice>;
  readonly partitions: readonly string[];
  readonly spans: RaceSpans;
  readonly work: Pick<PlainWork, 'begin' | 'end'>;
}

/** The time that a host without overload needs to process a message, in milliseconds. */
const HEARING: Millis = 0.25;
/** The pause after a failed call that must be repeated, in milliseconds. */
const RETRY: Millis = 1_000;

export class Racer {
  readonly #deps: RacerDeps;
  readonly #name: string;
  readonly #own = new Set<string>();
  /** When this host last heard of a race for each partition. */
  readonly #heardAt = new Map<string, Millis>();
  /** Number of the present timer of each partition. A message starts the timer again. */
  readonly #timers = new Map<string, number>();
  readonly #racing = new Set<string>();
  /** Waits of this host for last owners, by partition. */
  readonly #waiting = new Map<string, () => void>();
  readonly #notices: RaceNotice[] = [];
  #wake = (): void => {};
  #isLeaving = false;

  constructor(deps: RacerDeps) {
    this.#deps = deps;
    this.#name = deps.process.name;
  }

  /** Processes messages. Never resolves while the host lives. */
  async run(): Promise<void> {
    const { channel, partitions, process, spans } = this.#deps;
    channel.subscribe(this.#name, (notice) => {
      this.#notices.push(notice);
      this.#wake();
    });
    const now = process.now();
    for (const partition of partitions) {
      this.#heardAt.set(partition, now);
      void this.#time(partition, process.random.next() * spans.spread);
    }
    while (!this.#isLeaving) {
      const notice = this.#notices.shift();
      if (notice) {
        await process.work(HEARING * process.times);
        this.#hear(notice);
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /**
   * The description does not say how a host leaves. In its favour, the host stops all work at once and opens a race for
   * each partition as soon as its work has ended.
   */
  leave(): void {
    this.#isLeaving = true;
    this.#wake();
    this.#deps.channel.unsubscribe(this.#name);
    for (const partition of [...this.#own]) void this.#stop(partition, true);
  }

  /** Step 1. */
  async #time(partition: string, span: Millis): Promise<void> {
    const { process, spans, store, channel } = this.#deps;
    const timer = (this.#timers.get(partition) ?? 0) + 1;
    this.#timers.set(partition, timer);
    await process.sleep(span);
    if (this.#isLeaving || this.#timers.get(partition) !== timer) return;
    if (!this.#own.has(partition)) {
      const isOld = process.now() - (this.#heardAt.get(partition) ?? 0) > spans.maximumLease;
      if (isOld) await this.#call('clear', () => store.clear(partition));
      const answer = await this.#call('fleets.read', () => store.grabbedBy(partition) === undefined);
      if (answer === true) channel.publish(this.#name, { is: 'grab', partition });
    }
    if (this.#timers.get(partition) === timer) void this.#time(partition, spans.normalLease);
  }

  #hear({ is, partition }: RaceNotice): void {
    if (is === 'allocated') {
      this.#waiting.get(partition)?.();
      return;
    }
    this.#heardAt.set(partition, this.#deps.process.now());
    void this.#time(partition, this.#deps.spans.normalLease);
    if (!this.#racing.has(partition)) void this.#race(partition);
  }

  /** Steps 2 to 6. */
  async #race(partition: string): Promise<void> {
    const { process, store, spans } = this.#deps;
    this.#racing.add(partition);
    const wasMine = this.#own.has(partition);
    const places = wasMine ? this.#own.size - 1 : this.#own.size + 0.5;
    await process.sleep(places * spans.delayPerLease);
    if (this.#isLeaving) return;
    const winner = await this.#call('grab', () => store.grab(partition, this.#name));
    // If the call failed, the host goes on as if there had been no race.
    const hasWon = winner === this.#name;
    if (hasWon) void this.#endLater(partition);
    if (hasWon && !this.#own.has(partition)) await this.#begin(partition);
    else if (winner !== undefined && !hasWon && this.#own.has(partition)) void this.#stop(partition, false);
    this.#racing.delete(partition);
  }

  /** Steps 4 and 5. */
  async #begin(partition: string): Promise<void> {
    const { store, work } = this.#deps;
    const owner = await this.#until('fleets.read', () => store.allocatedTo(partition) ?? '');
    if (owner !== '' && owner !== this.#name) await this.#stopped(partition);
    await this.#until('allocate', () => {
      store.allocate(partition, this.#name);
      return true;
    });
    if (this.#isLeaving) return;
    this.#own.add(partition);
    work.begin(partition);
  }

  /** Resolves when the last owner has stopped, or after the maximum shutdown time. */
  async #stopped(partition: string): Promise<void> {
    const { process, spans } = this.#deps;
    await Promise.race([
      process.sleep(spans.maximumShutdown),
      new Promise<void>((resolve) => this.#waiting.set(partition, resolve)),
    ]);
    this.#waiting.delete(partition);
  }

  /** Step 3, the loser: ends the work and reports that. */
  async #stop(partition: string, opensRace: boolean): Promise<void> {
    const { store, channel, work } = this.#deps;
    this.#own.delete(partition);
    await work.end(partition);
    await this.#call('deallocate', () => store.deallocate(partition, this.#name));
    channel.publish(this.#name, { is: 'allocated', partition });
    if (!opensRace) return;
    await this.#call('endRace', () => store.endRace(partition, this.#name));
    channel.publish(this.#name, { is: 'grab', partition });
  }

  /** Step 6. */
  async #endLater(partition: string): Promise<void> {
    await this.#deps.process.sleep(this.#deps.spans.minimumGrab);
    await this.#until('endRace', () => {
      this.#deps.store.endRace(partition, this.#name);
      return true;
    });
  }

  /** Repeats a call until it succeeds. */
  async #until<T>(name: string, call: () => T): Promise<T> {
    for (;;) {
      const answer = await this.#call(name, call);
      if (answer !== undefined) return answer;
      await this.#deps.process.sleep(RETRY);
    }
  }

  /** Calls the store. Returns undefined if the call failed; its write may have been done nevertheless. */
  async #call<T>(name: string, call: () => T): Promise<T | undefined> {
    const answers = await this.#deps.process.gate(name, [call]).catch(orFailed);
    return answers?.[0] as T | undefined;
  }
}
