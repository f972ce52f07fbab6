/**
 * A host of the algorithm with renewed locks. It keeps its state in two tables, and does one thing at a time: first it processes
 * the notices that have arrived, then its tasks in the order in which they became due. Overload delays all of these.
 *
 * For the host, a partition is in one of these states:
 * - held by another host until a given time: the host does not try to acquire the partition before that time;
 * - free: the host tries to acquire the partition while the host has too few partitions;
 * - its own: the host works on the partition and renews its lock, until it must release the partition, or until a
 *   refusal or a notice names another owner;
 * - draining: the current unit of work finishes, then the host releases the partition.
 */
import type { Millis } from '../../../src/domain/ids.ts';
import type { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { Channel, Notice } from './channel.ts';
import type { Answer, Locks } from './locks.ts';
import { MAXIMUM, type Reading } from './reading.ts';
import { orFailed } from './work.ts';

export interface HostDeps {
  readonly process: SimulatedProcess;
  readonly locks: Locks;
  readonly channel: Channel<Notice>;
  readonly partitions: readonly string[];
  readonly reading: Reading;
  readonly work: {
    begin(partition: string): void;
    /** Resolves when the current unit of work has ended. */
    end(partition: string): Promise<void>;
  };
}

/**
 * The owner of a partition and the end of the partition's lock. An own partition keeps the same object while this host
 * owns it.
 */
interface Known {
  readonly holder: string;
  until: Millis;
}

/** The value of a partition that this host no longer owns and has not released yet. */
const DRAINING: Known = { holder: '', until: Number.POSITIVE_INFINITY };
/** The time that a host without overload needs to process a notice, in milliseconds. */
const HEARING: Millis = 0.25;
/** The pause after a failed renewal, in milliseconds. */
const RETRY: Millis = 1_000;

export class Host {
  readonly #deps: HostDeps;
  readonly #name: string;
  /** The first table: the other hosts, and the time when each host last announced itself. */
  readonly #hosts = new Map<string, Millis>();
  /**
   * The second table: the owners of partitions that are known to the host. Its own partitions are in the order of
   * acquisition.
   */
  readonly #partitions = new Map<string, Known>();
  readonly #notices: Notice[] = [];
  readonly #tasks: (() => Promise<void>)[] = [];
  #wake = (): void => {};
  #isAdjusting = false;
  #isLeaving = false;
  #hasLeft = false;

  constructor(deps: HostDeps) {
    this.#deps = deps;
    this.#name = deps.process.name;
  }

  /** Resolves once the host has left. */
  async run(): Promise<void> {
    const { channel, process, reading } = this.#deps;
    const { announce, balance } = reading.spans;
    channel.subscribe(this.#name, (notice) => {
      this.#notices.push(notice);
      this.#wake();
    });
    this.#announce();
    void this.#every(announce, async () => this.#announce());
    // After one interval of announcements, every other host has announced itself.
    void process.sleep(announce).then(async () => {
      await this.#queued(async () => this.#balance());
      await this.#every(balance, async () => this.#balance());
    });
    while (!this.#hasLeft) {
      const notice = this.#notices.shift();
      const task = notice ? undefined : this.#tasks.shift();
      if (notice) {
        await process.work(HEARING * process.times);
        this.#hear(notice);
      } else if (task) await task();
      else await this.#somethingToDo();
    }
  }

  leave(): void {
    this.#isLeaving = true;
    void this.#queued(async () => {
      const { channel } = this.#deps;
      channel.publish(this.#name, { about: 'host', host: this.#name, is: 'gone' });
      const own = this.#own;
      await Promise.all(own.map((partition) => this.#drain(partition)));
      for (const partition of own) await this.#release(partition);
      channel.unsubscribe(this.#name);
      this.#hasLeft = true;
    });
  }

  get #own(): readonly string[] {
    return [...this.#partitions].filter(([, { holder }]) => holder === this.#name).map(([partition]) => partition);
  }

  get #maximum(): number {
    const { partitions, reading } = this.#deps;
    return MAXIMUM[reading.maximum](partitions.length, this.#hosts.size + 1);
  }

  #somethingToDo(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Queues a task. Resolves with its result. */
  #queued<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#wake();
    });
  }

  /**
   * Repeats a task. The interval starts when the last repetition ends, so that an overloaded host does not fall further
   * and further behind.
   */
  async #every(span: Millis, task: () => Promise<void>): Promise<void> {
    while (!this.#isLeaving) {
      await this.#deps.process.sleep(span);
      await this.#queued(task);
    }
  }

  #announce(): void {
    if (this.#isLeaving) return;
    this.#deps.channel.publish(this.#name, { about: 'host', host: this.#name, is: 'there' });
  }

  #hear(notice: Notice): void {
    if (notice.about === 'host') this.#hearOfHost(notice.host, notice.is);
    else this.#hearOfPartition(notice);
  }

  #hearOfHost(host: string, is: 'there' | 'gone'): void {
    const isNews = is === 'there' ? !this.#hosts.has(host) : this.#hosts.delete(host);
    if (is === 'there') this.#hosts.set(host, this.#deps.process.now());
    if (isNews) this.#adjustSoon();
  }

  #hearOfPartition({ partition, by, until }: Notice & { readonly about: 'partition' }): void {
    const known = this.#partitions.get(partition);
    if (until === undefined) {
      if (known?.holder === by) this.#partitions.delete(partition);
      this.#adjustSoon();
    } else if (known === undefined || known.until < until) {
      this.#isAnothers(partition, { holder: by, until });
    }
  }

  #isAnothers(partition: string, known: Known): void {
    if (this.#partitions.get(partition)?.holder === this.#name) void this.#deps.work.end(partition);
    this.#partitions.set(partition, known);
  }

  #balance(): void {
    const { process, reading } = this.#deps;
    for (const [host, heardAt] of this.#hosts)
      if (process.now() - heardAt > reading.spans.forget) this.#hosts.delete(host);
    this.#adjustSoon();
  }

  /** Does one release or attempt at a time, so that other due tasks can be done in between. */
  #adjustSoon(): void {
    if (this.#isAdjusting || this.#isLeaving) return;
    this.#isAdjusting = true;
    void this.#queued(async () => {
      const goesOn = await this.#adjust();
      this.#isAdjusting = false;
      if (goesOn) this.#adjustSoon();
    });
  }

  /** @returns whether there may be more to release or acquire now */
  async #adjust(): Promise<boolean> {
    const own = this.#own;
    const newest = own.at(-1);
    if (this.#isLeaving || own.length === this.#maximum) return false;
    if (own.length > this.#maximum && newest !== undefined) {
      // The release is not awaited, so other due tasks do not wait for it.
      void this.#drain(newest).then(() => this.#queued(() => this.#release(newest)));
      return true;
    }
    const { clock, random } = this.#deps.process;
    const free = this.#deps.partitions.filter((each) => (this.#partitions.get(each)?.until ?? 0) <= clock.wall());
    const others = free.filter((each) => this.#partitions.get(each)?.holder !== this.#name);
    return others.length > 0 && this.#acquire(random.pick(others));
  }

  async #acquire(partition: string): Promise<boolean> {
    const { locks, channel, work } = this.#deps;
    const answer = await this.#call('locks.acquire', () => locks.acquire(partition, this.#name));
    if (answer?.lock === undefined) return false;
    const known = { ...answer.lock };
    // Delete the partition first, so that the partition acquired last is always the last one in the table.
    this.#partitions.delete(partition);
    this.#partitions.set(partition, known);
    if (answer.isDone) {
      channel.publish(this.#name, { about: 'partition', partition, by: this.#name, until: known.until });
      work.begin(partition);
      void this.#keep(partition, known);
    }
    return true;
  }

  /** Renews a lock while the partition is this host's own. */
  async #keep(partition: string, mine: Known): Promise<void> {
    const { renew } = this.#deps.reading.spans;
    const isMine = (): boolean => this.#partitions.get(partition) === mine && !this.#isLeaving;
    let pause = renew;
    for (;;) {
      await this.#deps.process.sleep(pause);
      if (!isMine()) return;
      pause = await this.#queued(async () => (!isMine() || (await this.#renew(partition, mine)) ? renew : RETRY));
    }
  }

  /** @returns whether the store has answered */
  async #renew(partition: string, mine: Known): Promise<boolean> {
    const { locks } = this.#deps;
    const answer = await this.#call('locks.renew', () => locks.renew(partition, this.#name));
    if (answer === undefined) return false;
    if (answer.isDone) mine.until = answer.lock?.until ?? mine.until;
    else this.#isAnothers(partition, answer.lock ?? { holder: '', until: 0 });
    return true;
  }

  /** Waits until the partition may be released. */
  #drain(partition: string): Promise<void> {
    this.#partitions.set(partition, DRAINING);
    return this.#deps.work.end(partition);
  }

  /** If the store did not release a lock, the lock expires. */
  async #release(partition: string): Promise<void> {
    const { locks, channel } = this.#deps;
    const answer = await this.#call('locks.release', () => locks.release(partition, this.#name));
    this.#partitions.delete(partition);
    if (answer?.isDone)
      channel.publish(this.#name, { about: 'partition', partition, by: this.#name, until: undefined });
  }

  /** Calls the store. Returns undefined if the call failed; its write may have been done nevertheless. */
  async #call(name: string, call: () => Answer): Promise<Answer | undefined> {
    const answers = await this.#deps.process.gate(name, [call]).catch(orFailed);
    return answers?.[0];
  }
}
