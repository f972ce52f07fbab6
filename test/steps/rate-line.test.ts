/** Thousands of batches under a rate, in virtual time: pauses and changes of the rate do not delay them afterwards. */
import { describe, expect, it } from 'vitest';
import type { BatchMessage } from '../../src/domain/batches/messages.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type BatchId, batchIdOf, type Millis, type Token } from '../../src/domain/ids.ts';
import { LEAST_AHEAD, MOST_AHEAD } from '../../src/domain/operations/call-rate.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import type { Operations } from '../../src/ports/operations.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { seeded } from '../../src/virtual/random.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { aConfig, aTask, candidate, id, NOW, operationName, target } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { PLENTY, type StepKit, stepKit } from './step-kit.ts';

const ship = operationName('ship');

class Line {
  readonly scheduler = new Scheduler(NOW);
  readonly kit: StepKit;
  /** When calls were made, in milliseconds from the start, and for which batch. */
  readonly calls: { readonly at: Millis; readonly batch: BatchId }[] = [];
  config: Config;
  readonly #random = seeded(1);
  #sealed = 0;

  constructor(rateLimit: number) {
    this.config = aConfig({ rateLimit });
    this.kit = stepKit(memoryStores(), this.config);
  }

  rate(rateLimit: number | null): void {
    this.config = aConfig({ rateLimit });
  }

  get operations(): Operations {
    return this.kit.operations;
  }

  /** Seals a batch now, and sends its message. */
  async seal(): Promise<BatchId> {
    const { tasks, batches } = this.kit;
    const { now } = this.scheduler;
    this.#sealed += 1;
    const [name, where] = [id(`task-${this.#sealed}`), target(`ship/depot=${this.#sealed}`)];
    const batchId = batchIdOf(where, 1, 1);
    await tasks.insert([aTask({ id: name, target: where, createdAt: now })]);
    const candidates = [candidate(name)];
    const forming = {
      id: batchId,
      target: where,
      sealedBy: 'full',
      candidates,
      oldestAt: now,
      createdAt: now,
    } as const;
    const batch = await batches.form(forming);
    await tasks.claim(candidates, batchId);
    await batches.seal(batch, [], now, MINUTE);
    this.send({ kind: 'due', batchId }, 0);
    return batchId;
  }

  send(message: BatchMessage, delay: number): void {
    // SQS is up to 100 ms late, so that the messages do not all arrive at the same moment.
    this.scheduler.after(delay * SECOND + this.#random.int(0, 100), () => this.#handle(message));
  }

  async until(at: Millis): Promise<void> {
    await this.scheduler.run(() => false, NOW + at);
    this.scheduler.skipTo(NOW + at);
  }

  /** The number of calls from `from` until before `until`. */
  between(from: Millis, until: Millis): number {
    return this.calls.filter(({ at }) => at >= from && at < until).length;
  }

  #handle(message: BatchMessage): void {
    const { scheduler } = this;
    const deps = {
      ...this.kit,
      config: this.config,
      machine: {
        now: () => scheduler.now,
        sleep: (duration: Millis) => scheduler.wait(duration),
        within: async <T>(_: Millis, work: () => Promise<T>) => work(),
        random: () => this.#random.next(),
        token: () => `token-${this.#random.next()}` as Token,
      },
      queues: { ...this.kit.queues, batch: async (each: BatchMessage, delay: number) => this.send(each, delay) },
      downstreamOf: () => ({
        call: async ({ batchId }: { readonly batchId: BatchId }) => {
          this.calls.push({ at: scheduler.now - NOW, batch: batchId });
          return { kind: 'all-succeeded' } as const;
        },
      }),
    };
    handleBatch(deps, message, PLENTY);
  }
}

const sealed = async (line: Line, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await line.seal();
};

describe('a line of batches', () => {
  it('with 3,600 batches at 1/s resumes at once at 1/s after a pause', async () => {
    const line = new Line(1);
    await sealed(line, 3_600);
    await line.until(2 * MINUTE);
    await line.operations.pause(ship, { id: 'pause', by: 'person', since: NOW });
    await line.until(18 * MINUTE);
    const before = line.calls.length;
    await line.operations.resume(ship, 'pause', NOW);
    await line.until(21 * MINUTE);
    expect(before).toBeGreaterThanOrEqual(118);
    expect(line.between(2 * MINUTE + 2 * SECOND, 18 * MINUTE), 'calls during the pause').toBe(0);
    expect(line.between(18 * MINUTE, 18 * MINUTE + 4 * SECOND)).toBeGreaterThanOrEqual(2);
    expect(line.between(18 * MINUTE, 21 * MINUTE)).toBeGreaterThanOrEqual(175);
    expect(line.between(18 * MINUTE, 21 * MINUTE)).toBeLessThanOrEqual(181);
  });

  it('raised from 1/s to 100/s reaches the new rate within the horizon', async () => {
    const line = new Line(1);
    await sealed(line, 12_000);
    await line.until(2 * MINUTE);
    line.rate(100);
    await line.until(2 * MINUTE + LEAST_AHEAD + 10 * SECOND);
    expect(line.between(0, 2 * MINUTE)).toBeLessThanOrEqual(121);
    const second = 2 * MINUTE + LEAST_AHEAD;
    expect(line.between(second, second + 10 * SECOND)).toBeGreaterThanOrEqual(950);
    // Messages from just before, which were up to 100 ms late, add up to ten calls.
    expect(line.between(second, second + 10 * SECOND)).toBeLessThanOrEqual(1_011);
  });

  it('lowered from 100/s to 1/s slows down at once despite reserved moments', async () => {
    const line = new Line(100);
    await sealed(line, 9_000);
    await line.until(20 * SECOND);
    expect(line.calls.length).toBeGreaterThanOrEqual(1_900);
    line.rate(1);
    await line.until(80 * SECOND);
    // A batch that sleeps until its reserved moment, at most one second away, is still called.
    expect(line.between(21 * SECOND, 80 * SECOND)).toBeLessThanOrEqual(60);
    expect(line.between(21 * SECOND, 80 * SECOND)).toBeGreaterThanOrEqual(57);
  });

  it('without a rate for a while does not delay the next batch', async () => {
    const line = new Line(1);
    await sealed(line, 200);
    await line.until(10 * SECOND);
    line.rate(null);
    await line.until(3 * MINUTE);
    expect(line.calls).toHaveLength(200);
    line.rate(1);
    const batch = await line.seal();
    await line.until(3 * MINUTE + SECOND);
    expect(line.calls[200]).toMatchObject({ batch });
  });

  it.each([
    ['of another rate', { next: NOW + 18 * MINUTE, rate: 0.001, since: NOW }],
    ['of a clock that is hours ahead', { next: NOW + 6 * 60 * MINUTE, rate: 0.01, since: NOW + 6 * 60 * MINUTE }],
    ['of release 0.2.0', { next: NOW + 300 * MINUTE }],
  ])('%s does not delay the calls of a slow rate', async (_, before) => {
    const line = new Line(0.01);
    await line.operations.reserveCall(ship, undefined, before);
    await sealed(line, 20);
    await line.until(10 * MINUTE);
    // The first call must be one gap after a call that may just have been made.
    expect(line.between(0, 95 * SECOND)).toBe(0);
    expect(line.between(0, 10 * MINUTE)).toBeGreaterThanOrEqual(5);
    expect(line.between(0, 10 * MINUTE)).toBeLessThanOrEqual(6);
  });

  it('with abandoned moments delays others no longer than the horizon', async () => {
    const line = new Line(1);
    // Reserved, but never called.
    const far = { next: NOW + MOST_AHEAD, rate: 1, since: NOW };
    await line.operations.reserveCall(ship, undefined, far);
    const batch = await line.seal();
    await line.until(MOST_AHEAD - 1);
    expect(line.calls).toEqual([]);
    await line.until(MOST_AHEAD + SECOND);
    expect(line.calls.map((call) => call.batch)).toEqual([batch]);
  });

  it('serves older batches first if more arrive than the rate allows', async () => {
    const line = new Line(1);
    const old = new Set<BatchId>();
    for (let n = 0; n < 300; n += 1) old.add(await line.seal());
    await line.until(2 * MINUTE);
    for (let n = 0; n < 300; n += 1) await line.seal();
    await line.until(7 * MINUTE);
    const first = line.calls.filter(({ batch }) => old.has(batch)).length;
    expect(line.calls.length).toBeGreaterThanOrEqual(410);
    // Nearly all of the first 300 batches come first. A later batch is called only when few of these are left.
    expect(first).toBeGreaterThanOrEqual(290);
  });
});
