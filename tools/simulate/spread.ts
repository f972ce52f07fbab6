/**
 * The distribution of values in constant memory. Values are counted in buckets whose bounds grow by 1%, so a quantile has a
 * relative error of up to 1% (as in DDSketch, Masson, Rim and Lee, VLDB 2019).
 */
import type { Spread } from './outcome.ts';

const GROWTH = Math.log(1.01);
/** Smaller values count as 0. */
const LEAST = 0.5;

export class Spreading {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #max = 0;
  #zeros = 0;

  /** @param value 0 or more */
  add(value: number): void {
    this.#count += 1;
    this.#sum += value;
    if (value > this.#max) this.#max = value;
    if (value < LEAST) {
      this.#zeros += 1;
      return;
    }
    const bucket = Math.ceil(Math.log(value) / GROWTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  get spread(): Spread {
    const [p50 = 0, p95 = 0, p99 = 0] = this.#quantiles([0.5, 0.95, 0.99]);
    return { count: this.#count, mean: this.#count === 0 ? 0 : this.#sum / this.#count, p50, p95, p99, max: this.#max };
  }

  /** The quantiles at these shares, which must be in ascending order. */
  #quantiles(shares: readonly number[]): number[] {
    const sorted = [...this.#buckets].sort(([a], [b]) => a - b);
    let [next, seen] = [0, this.#zeros];
    return shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * this.#count));
      while (seen < rank && next < sorted.length) {
        seen += sorted[next]?.[1] ?? 0;
        next += 1;
      }
      const bucket = sorted[next - 1]?.[0];
      // The middle of the bucket, but never above the maximum.
      return next === 0 || bucket === undefined ? 0 : Math.min(this.#max, Math.exp((bucket - 0.5) * GROWTH));
    });
  }
}
