/** What reads cost. */

export interface ReadMeter {
  /** What the reads of some work consumed, in read units, however much of it happens at one time. */
  measure(work: () => Promise<void>): Promise<number>;
}
