/**
 * The time of a store, estimated from the dates of its answers. Functions run on machines whose clocks may be half a
 * minute apart, so what several functions must agree on follows the store's clock. Pure.
 *
 * The method is Cristian's algorithm ("Probabilistic clock synchronization", 1989), for a server whose clock shows whole
 * seconds. The store dates an answer between the time at which the request is sent and the time at which the answer is
 * received. So each answer bounds the offset of the store's clock from the local clock. The clock intersects the bounds
 * of all answers. An answer close to the start of a second narrows them most.
 */

/** One answer of the store. All times are in milliseconds since the epoch. */
interface Dated {
  /** When the request was sent, by the local clock. */
  readonly sent: number;
  /** When its answer was received, by the local clock. */
  readonly received: number;
  /** The date of the answer: the store's time, rounded down to a second. */
  readonly date: number;
}

/** The least and the greatest possible offset (store's clock minus local clock), in milliseconds. */
interface Bounds {
  readonly least: number;
  readonly most: number;
  /** The local time at which the bounds hold. Later, they are wider. */
  readonly at: number;
}

/** The resolution of the store's dates, in milliseconds. */
const RESOLUTION = 1_000;
/** How far two clocks drift apart, as a fraction of the elapsed time: each has a quartz with an error of up to 100 ppm. */
const DRIFT = 200e-6;
/**
 * How far the clocks of the store's own machines may be apart, in milliseconds. If bounds miss each other by more than
 * this, the local clock was set.
 */
const SPREAD = 50;

export class StoreClock {
  #bounds: Bounds | undefined;

  /** Learns from an answer. An answer without a valid date, or received before its request was sent, is ignored. */
  note({ sent, received, date }: Dated): void {
    if (!Number.isFinite(date) || !(received >= sent)) return;
    const sample = aged({ least: date - received, most: date + RESOLUTION - sent, at: sent }, received);
    this.#bounds = this.#bounds ? narrowed(aged(this.#bounds, received), sample) : sample;
  }

  /**
   * The best estimate of the store's time at a local time, in milliseconds since the epoch. It is the local time itself if the
   * bounds allow that, otherwise the local time is corrected to the nearest bound. AWS keeps the clocks of most machines
   * right within milliseconds, so processes on these machines agree exactly. A wrong clock is corrected to within
   * {@link error}. The estimate can step back, by up to a second, while answers narrow the bounds.
   */
  now(local: number): number {
    if (!this.#bounds) return local;
    const { least, most } = aged(this.#bounds, local);
    return local + Math.round(Math.min(Math.max(0, least), most));
  }

  /** The width of the bounds after the last answer, in milliseconds. Infinity before the first answer. */
  error(): number {
    return this.#bounds ? this.#bounds.most - this.#bounds.least : Number.POSITIVE_INFINITY;
  }
}

/** The bounds at a later local time. A local clock that was set back does not narrow them. */
const aged = ({ least, most, at }: Bounds, local: number): Bounds => {
  const drift = DRIFT * Math.max(0, local - at);
  return { least: least - drift, most: most + drift, at: local };
};

/**
 * The intersection of the bounds with those of a new answer. If they miss each other slightly, the store's machines
 * disagree, and the offset is in the gap. Starting again would then move the estimate by up to a second.
 */
const narrowed = (bounds: Bounds, sample: Bounds): Bounds => {
  const least = Math.max(bounds.least, sample.least);
  const most = Math.min(bounds.most, sample.most);
  if (least - most > SPREAD) return sample;
  return { least: Math.min(least, most), most: Math.max(least, most), at: sample.at };
};
