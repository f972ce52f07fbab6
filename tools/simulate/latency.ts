/** How long requests and deliveries take, by chance: mostly about as long, and now and then several times that. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Random } from '../../src/virtual/random.ts';

/** A log-normal distribution, by two of its quantiles. If they are equal, the time never varies. */
export interface Latency {
  /** Half of them take no longer than this, in ms. */
  readonly p50: Millis;
  /** 99 of 100 take no longer than this, in ms. */
  readonly p99: Millis;
}

/** The 99th percentile of a normal distribution is so many standard deviations above its mean. */
const P99_DEVIATIONS = 2.326;

/** Draws one latency after the other, in whole milliseconds. */
export const latencies = ({ p50, p99 }: Latency, random: Random): (() => Millis) => {
  const deviation = Math.log(p99 / p50) / P99_DEVIATIONS;
  return () => (deviation === 0 ? p50 : Math.round(p50 * Math.exp(deviation * normal(random))));
};

/** A number of the standard normal distribution (Box and Muller, 1958). */
const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
