/** The jobs of a storm: which ones fail, and what the workers did with each. */
import type { Job } from '../../src/domain/lists/list.ts';
import type { ClaimedJob } from '../../src/steps/lists/claim.ts';

/** One of this many jobs fails. */
const FAILS = 1_000;
/** The poison jobs are spread over the list, and are never those that fail. */
export const isPoison = (poison: number, token: number): boolean =>
  poison > 0 && token % Math.max(2, Math.round(1 / poison)) === 1 && token % FAILS !== 7;
export const outcomeOf = (poison: number, token: number) =>
  token % FAILS === 7 || isPoison(poison, token) ? 'failed' : 'succeeded';

/** The error with which a worker releases a poison job. */
export const POISON = { code: 'poison', message: 'no worker can do this job' };

/** A record of what the workers did, because the list's rows do not contain it. */
export class Seen {
  claims = 0;
  deaths = 0;
  takeovers = 0;
  busy = 0;
  /** The number of jobs that a worker got while another worker still had a lease on them, according to the answers. */
  atOnce = 0;
  lostReplies = 0;
  releases = 0;
  /** The most deliveries of a job that is not poison, and of one that is. */
  readonly deliveries = { others: 0, poison: 0 };
  /** The number of live workers that have jobs. */
  holding = 0;
  #idleAt = 0;

  /** Whether no live worker has had jobs for the length of a pause. @param pause in ms */
  isIdle(pause: number): boolean {
    const now = performance.now();
    if (this.holding > 0 || now < this.#idleAt + pause) return false;
    this.#idleAt = now;
    return true;
  }

  /** For each job, the number of times that a worker finished it. */
  readonly worked = new Map<number, number>();
  /** For each job, its worker and the end of the lease, according to the answer to the claim. */
  readonly #held = new Map<number, { readonly by: string; readonly until: number }>();

  /** For each job, the number of its workers that died. */
  readonly died = new Map<number, number>();

  diedWith(jobs: readonly Job[]): void {
    for (const { token } of jobs) this.died.set(token, (this.died.get(token) ?? 0) + 1);
  }

  handedOut(by: string, jobs: readonly ClaimedJob[], until: number, now: number, poison: number): void {
    this.claims += 1;
    let isTakeover = false;
    for (const { token, deliveries } of jobs) {
      const kind = isPoison(poison, token) ? 'poison' : 'others';
      this.deliveries[kind] = Math.max(this.deliveries[kind], deliveries);
      const before = this.#held.get(token);
      if (before && before.by !== by) {
        isTakeover = true;
        if (before.until >= now) this.atOnce += 1;
      }
      this.#held.set(token, { by, until });
    }
    if (isTakeover) this.takeovers += 1;
  }

  /** A worker gave its jobs back, so another one may have them at once. */
  released(tokens: readonly number[]): void {
    this.releases += 1;
    for (const token of tokens) this.#held.delete(token);
  }

  finished(tokens: readonly number[]): void {
    for (const token of tokens) this.worked.set(token, (this.worked.get(token) ?? 0) + 1);
  }
}
