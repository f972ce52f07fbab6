/**
 * The throughput of one partition key of DynamoDB, and the throttling of requests beyond that throughput.
 *
 * "By default, every partition in a DynamoDB table is designed to deliver a maximum capacity of 3,000 read units per
 * second and 1,000 write units per second". A Target's waiting rows and its lock share one key. The throughput of keys
 * that are spread is assumed to be sufficient. Burst capacity ("up to five minutes of unused capacity") is not
 * guaranteed, and is used only if an option says so.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
 *
 * A request without capacity is throttled and retried as in src/aws/rounds.ts, with pauses that double. Real pauses are
 * random; here each pause has its mean length. The units of a waiting request are reserved in the order of arrival, so
 * the partition delivers all its capacity. A request that would have to wait beyond the last round uses the units until
 * then and fails. Its message is delivered again.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { SECOND } from '../../src/domain/timings.ts';
import type { Spent } from '../../src/processes/units.ts';
import { InjectedFault } from '../../src/virtual/faults.ts';

/** Units per second of one partition key. */
export const PER_PARTITION = { write: 1_000, read: 3_000 } as const;

/** As in src/aws/rounds.ts: the most rounds of a request, and the longest first pause in ms. */
const [ROUNDS, FIRST_PAUSE] = [8, 50];

/** The times at which a request is sent, in ms after it was first sent. */
const TRIES: readonly Millis[] = Array.from({ length: ROUNDS }, (_, round) => (FIRST_PAUSE / 2) * (2 ** round - 1));
/** The time at which a request is sent for the last time, in ms after it was first sent. */
export const LAST_TRY: Millis = TRIES.at(-1) ?? 0;

export interface PartitionLimits {
  /** Seconds of unused capacity that a partition may use later. @default 1 */
  readonly burst?: number;
  readonly write?: number;
  readonly read?: number;
}

/** One kind of capacity of one key: a token bucket. Reserved units make its balance negative. */
class Bucket {
  readonly #perMilli: number;
  readonly #depth: number;
  #left: number;
  #at: Millis;

  constructor(perSecond: number, burst: number, at: Millis) {
    this.#perMilli = perSecond / SECOND;
    this.#depth = perSecond * burst;
    this.#left = this.#depth;
    this.#at = at;
  }

  /** Takes the units that become available within `latest` ms. @returns in how many ms all units are available */
  take(units: number, now: Millis, latest: Millis): Millis {
    this.#left = Math.min(this.#depth, this.#left + (now - this.#at) * this.#perMilli);
    this.#at = now;
    const wait = Math.max(0, (units - this.#left) / this.#perMilli);
    this.#left = wait <= latest ? this.#left - units : Math.min(this.#left, -latest * this.#perMilli);
    return wait;
  }
}

/** The most units within any second of the clock. */
class Peak {
  #second = Number.NEGATIVE_INFINITY;
  #units = 0;
  most = 0;

  add(units: number, now: Millis): void {
    const second = Math.floor(now / SECOND);
    if (second !== this.#second) [this.#second, this.#units] = [second, 0];
    this.#units += units;
    this.most = Math.max(this.most, this.#units);
  }
}

/** A partition key: the units that it received, and its remaining capacity. */
interface Key {
  readonly write: Bucket;
  readonly read: Bucket;
  readonly writes: Peak;
  readonly reads: Peak;
  written: number;
  wasRead: number;
}

/** The key with the most units, and the number of its units. */
export interface Hottest {
  readonly partition: string;
  readonly units: number;
}

/** Counts the units of each partition key. Memory grows with the number of keys. */
export class Partitions {
  readonly #limits: Required<PartitionLimits>;
  readonly #keys = new Map<string, Key>();
  readonly #tables = new Map<Spent['table'], Peak>();
  #throttled = 0;
  #gaveUp = 0;

  constructor({ burst = 1, write = PER_PARTITION.write, read = PER_PARTITION.read }: PartitionLimits = {}) {
    this.#limits = { burst, write, read };
  }

  /** The number of times that a request was throttled. A request counts again in each round. */
  get throttled(): number {
    return this.#throttled;
  }

  /** The number of requests that were still throttled in their last round. */
  get gaveUp(): number {
    return this.#gaveUp;
  }

  /** The key with the most units written (or read). */
  hottest(of: 'written' | 'wasRead' = 'written'): Hottest {
    let hottest: Hottest = { partition: '', units: 0 };
    for (const [partition, { [of]: units }] of this.#keys) if (units > hottest.units) hottest = { partition, units };
    return hottest;
  }

  /** The key with the most units written (or read) within a second, and their number. */
  busiest(of: 'writes' | 'reads' = 'writes'): Hottest {
    let busiest: Hottest = { partition: '', units: 0 };
    for (const [partition, { [of]: peak }] of this.#keys)
      if (peak.most > busiest.units) busiest = { partition, units: peak.most };
    return busiest;
  }

  /** The units written to a key. */
  writtenTo(partition: string): number {
    return this.#keys.get(partition)?.written ?? 0;
  }

  /** The most write units of a table within a second. A new on-demand table can take 4,000. */
  mostWritten(table: Spent['table']): number {
    return this.#tables.get(table)?.most ?? 0;
  }

  /**
   * Spends the units that a call needs.
   *
   * @returns how long its caller waits for capacity, in ms
   * @throws InjectedFault if the call is throttled in every round
   */
  readonly spend = (spent: readonly Spent[], now: Millis): Millis => {
    let wait = 0;
    for (const each of spent) {
      this.#countTable(each, now);
      if (each.partition !== undefined) wait = Math.max(wait, this.#take(each.partition, each, now));
    }
    if (wait === 0) return 0;
    const tries = TRIES.findIndex((at) => at >= wait);
    this.#throttled += tries === -1 ? ROUNDS : tries;
    if (tries !== -1) return TRIES[tries] as Millis;
    this.#gaveUp += 1;
    throw new InjectedFault('throttled in every round');
  };

  #take(partition: string, { write = 0, read = 0 }: Spent, now: Millis): Millis {
    const key = this.#keyOf(partition, now);
    key.written += write;
    key.writes.add(write, now);
    key.wasRead += read;
    key.reads.add(read, now);
    return Math.max(
      write > 0 ? key.write.take(write, now, LAST_TRY) : 0,
      read > 0 ? key.read.take(read, now, LAST_TRY) : 0,
    );
  }

  #keyOf(partition: string, now: Millis): Key {
    const known = this.#keys.get(partition);
    if (known) return known;
    const { burst, write, read } = this.#limits;
    const key = {
      write: new Bucket(write, burst, now),
      read: new Bucket(read, burst, now),
      writes: new Peak(),
      reads: new Peak(),
      written: 0,
      wasRead: 0,
    };
    this.#keys.set(partition, key);
    return key;
  }

  #countTable({ table, write = 0 }: Spent, now: Millis): void {
    const peak = this.#tables.get(table) ?? new Peak();
    this.#tables.set(table, peak);
    peak.add(write, now);
  }
}
