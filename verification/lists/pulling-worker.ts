/** A worker that claims jobs of a list. It simulates everything that may happen to a claim. */

import type { Millis } from '../../src/domain/ids.ts';
import { type ClaimId, type Handle, parseHandle } from '../../src/domain/lists/ids.ts';
import type { Job } from '../../src/domain/lists/list.ts';
import { countOf } from '../../src/domain/lists/ranges.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import type { RegisterDeps } from '../../src/steps/deps.ts';
import type { Claimed } from '../../src/steps/lists/claim.ts';
import { type Named, namedBy } from '../../src/steps/lists/held.ts';
import type { AttemptedJob } from '../../src/steps/lists/release.ts';
import type { Random } from '../../src/virtual/random.ts';
import { START } from '../../src/virtual/trace.ts';
import type { ClientSimulation } from '../harness/clients.ts';
import { type Asked, checkClaimed, checkCompleted } from './answers.ts';
import type { ListPlan } from './scenario.ts';
import type { ListSteps } from './steps.ts';
import { busyOr } from './steps.ts';

const ALWAYS = Number.POSITIVE_INFINITY;
/** How long a worker waits after a claim that returned no jobs, in ms. */
const PAUSE: Millis = 10_000;
/** The longest time between two claims, in ms. */
const BETWEEN_CLAIMS: Millis = 1_000;

type Got = Claimed & { readonly kind: 'claimed' };

export class PullingWorker {
  readonly #name: string;
  readonly #plan: ListPlan;
  readonly #steps: ListSteps;
  readonly #clients: ClientSimulation<RegisterDeps>;
  readonly #before: () => () => Asked;
  readonly #random: Random;
  #claims = 0;

  constructor(
    name: string,
    plan: ListPlan,
    steps: ListSteps,
    clients: ClientSimulation<RegisterDeps>,
    before: () => () => Asked,
  ) {
    this.#name = name;
    this.#plan = plan;
    this.#steps = steps;
    this.#clients = clients;
    this.#before = before;
    this.#random = clients.chaos.chanceOf(name);
  }

  /** Works until `until`, or until no more jobs can come. @param until in ms from the start */
  async pull(until: Millis): Promise<void> {
    const { scheduler } = this.#clients;
    while (scheduler.now - START < until) {
      const got = await this.#claim();
      if (got === 'over') return;
      if (got) await this.#do(got);
      await scheduler.wait(got ? this.#random.int(0, BETWEEN_CLAIMS) : PAUSE);
    }
  }

  async #claim(): Promise<Got | 'over' | undefined> {
    const { id, workers } = this.#plan;
    this.#claims += 1;
    const claim = `${this.#name}-${this.#claims}` as ClaimId;
    const count = this.#random.int(1, workers.atOnce);
    const ask = (name: string, tries: number) =>
      this.#clients.ask(`${this.#name}-${name}`, tries, async (deps) => {
        const before = this.#before();
        const answer = await busyOr(
          this.#steps.claimJobs(deps, id, { claim, count, lease: workers.lease, holder: this.#name }),
        );
        return { answer, before, clock: deps.machine.now() };
      });
    // The worker, or a proxy before the API, repeats the request while the first one is still under way.
    const isTwice = workers.twice > 0 && this.#random.chance(workers.twice);
    const [asked] = await Promise.all([ask('claim', ALWAYS), ...(isTwice ? [ask('claim-again', 1)] : [])]);
    const { answer, before, clock = 0 } = asked?.answer ?? {};
    // Only the answer that the worker receives is checked. A paused process may receive an outdated answer: its request
    // was repeated in the meantime, and the jobs were done.
    if (answer && before) this.#clients.checked(() => checkClaimed(before(), claim, count, answer, clock));
    if (answer?.kind === 'closed' || (answer?.kind === 'none' && answer.status === 'complete')) return 'over';
    // If the claim has already ended when its answer arrives, the worker does not begin the jobs.
    return answer?.kind === 'claimed' && answer.until > clock ? answer : undefined;
  }

  async #do(got: Got): Promise<void> {
    const { workers } = this.#plan;
    const random = this.#random;
    const { scheduler } = this.#clients;
    const held = this.#held(got.handle);
    if (random.chance(workers.dying)) return;
    await scheduler.wait(random.int(0, workers.span));
    if (random.chance(workers.renewing)) {
      const renewed = await this.#clients.ask(`${this.#name}-renew`, ALWAYS, (deps) =>
        this.#steps.renew(deps, this.#plan.id, held, workers.lease),
      );
      if (renewed?.answer.kind !== 'renewed' && random.chance(0.5)) return;
      await scheduler.wait(random.int(0, workers.span));
    }
    const poison = got.jobs.findIndex(({ token }) => this.#isPoison(token));
    const jobs = poison === -1 ? got.jobs : got.jobs.slice(0, poison);
    const parts = random.chance(workers.inParts) ? this.#parts(jobs) : [jobs];
    for (const part of parts.filter(({ length }) => length > 0)) {
      if (random.chance(workers.releasing)) return this.#release(held, []);
      await this.#complete(held, part, part.length === countOf(held.ranges ?? []));
      if (random.chance(workers.dying)) return;
    }
    // The job ends its worker, or its handler throws an error.
    if (poison !== -1 && random.chance(0.6)) await this.#release(held, got.jobs.slice(poison, poison + 1));
  }

  /** Some jobs never end normally, whichever worker has them. */
  #isPoison(token: number): boolean {
    const { id, workers } = this.#plan;
    return this.#clients.chaos.chanceOf(`poison ${id} ${token}`).chance(workers.poison);
  }

  #held(handle: Handle): Named {
    const held = parseHandle(this.#plan.id, handle);
    if (typeof held === 'string') throw new Error(`a claim was answered with the invalid handle ${handle}: ${held}`);
    return namedBy(held);
  }

  #parts(jobs: readonly Job[]): readonly (readonly Job[])[] {
    const shuffled = [...jobs].sort((a, b) => ((a.token * 7) % 5) - ((b.token * 7) % 5));
    const size = this.#random.int(1, 3);
    return Array.from({ length: Math.ceil(shuffled.length / size) }, (_, n) =>
      shuffled.slice(n * size, (n + 1) * size),
    );
  }

  /** @param begun the jobs that the worker has begun and not ended */
  async #release(held: Named, begun: readonly Job[]): Promise<void> {
    const { id, workers } = this.#plan;
    const attempted = begun.map(({ token }): AttemptedJob => ({ token, error: { code: 'poison', message: 'poison' } }));
    const book = this.#before()().book;
    for (const { token } of begun) {
      const job = book.jobs[token];
      if (job && workers.reportAttempts) job.begunIn = job.handedOut;
    }
    const released = await this.#clients.ask(`${this.#name}-release`, this.#random.pick([1, ALWAYS]), (deps) =>
      this.#steps.release(deps, id, held, workers.reportAttempts ? attempted : undefined),
    );
    const isCounted = released?.answer.kind === 'released' && released.answer.count + released.answer.failed > 0;
    for (const { token } of isCounted && workers.reportAttempts ? begun : []) {
      const job = book.jobs[token];
      if (job) job.reported += 1;
    }
  }

  /** @param isAll whether the worker may report success for the whole range, without naming jobs */
  async #complete(held: Named, jobs: readonly Job[], isAll: boolean): Promise<void> {
    const { id, workers } = this.#plan;
    const random = this.#random;
    const results = jobs.map(({ token }): JobResult => {
      const outcome = random.chance(workers.failing) ? 'failed' : 'succeeded';
      const answer = outcome === 'failed' ? { error: { code: 'no', message: 'no' } } : { result: `${token}` };
      return { token, outcome, ...(workers.haveResults ? answer : {}) };
    });
    const { book } = this.#before()();
    for (const { token, outcome } of results) {
      const job = book.jobs[token];
      if (job && outcome === 'failed') job.isReportedFailed = true;
    }
    const isPlain = isAll && results.every(({ outcome, result }) => outcome === 'succeeded' && result === undefined);
    const times = random.chance(workers.again) ? 2 : 1;
    for (let time = 0; time < times; time += 1)
      await this.#clients.ask(`${this.#name}-complete`, random.pick([1, ALWAYS, ALWAYS]), async (deps) => {
        const before = this.#before();
        const answer = await this.#steps.complete(deps, id, held, isPlain ? 'succeeded' : results);
        this.#clients.checked(() => checkCompleted(before(), held, results, answer));
      });
  }
}
