import { describe, expect, it } from 'vitest';
import { QUICK } from '../../tools/simulate/downstream.ts';
import { callsPerHour } from '../../tools/simulate/figures.ts';
import type { OperationOutcome, Outcome } from '../../tools/simulate/outcome.ts';
import { type SimulateOptions, simulate, TraceDisorder } from '../../tools/simulate/simulate.ts';
import type { Arrival } from '../../tools/simulate/trace.ts';
import { configFrom, type Fields, operationAt } from '../end-to-end/operations.ts';

const configOf = (fields: Fields = {}) =>
  configFrom({ operations: { ship: operationAt('http://127.0.0.1:1/batch', fields) } });

/** Tasks at a steady rate, with depots in rotation. */
function* steady(count: number, perSecond: number, depots = 1): Generator<Arrival> {
  for (let n = 0; n < count; n += 1)
    yield {
      at: Math.floor((n * 1_000) / perSecond),
      operation: 'ship',
      payload: JSON.stringify({ depot: `D${n % depots}`, n }),
    };
}

const run = (options: Partial<SimulateOptions> = {}, fields: Fields = {}): Promise<Outcome> =>
  simulate({ config: configOf(fields), arrivals: steady(1_000, 100), ...options });

const only = ({ operations }: Outcome): OperationOutcome => {
  expect(operations).toHaveLength(1);
  return operations[0] as OperationOutcome;
};

describe('a simulated trace', () => {
  it('ends every task once, in full batches if enough tasks arrive', async () => {
    const outcome = await run({}, { batch: { maxSize: 50, maxWait: '10s' } });
    expect(only(outcome)).toMatchObject({ tasks: 1_000, succeeded: 1_000, failed: 0, calls: 20, fill: 1 });
    expect(only(outcome).sealedBy).toEqual({ full: 20 });
    expect(only(outcome).waits.count).toBe(1_000);
  });

  it('seals batches at maxWait, with a small delay by the platform', async () => {
    const { batches, sealedBy, waits, late } = only(await run({}, { batch: { maxSize: 100, maxWait: '500ms' } }));
    expect(sealedBy).toEqual({ waited: batches });
    expect(waits.max).toBeGreaterThan(500);
    // Requests take about 6 ms, some of them 20 ms: virtual time, which is the same on every machine. A guard that
    // arrives before the hand-over waits for another 100 ms.
    expect(late.max).toBeLessThan(300);
  });

  it('is the same in each run', async () => {
    expect(await run()).toEqual(await run());
  });

  it('costs slightly over five write units a task in full batches', async () => {
    const { usage } = await run({ arrivals: steady(5_000, 1_000) }, { batch: { maxSize: 100, maxWait: '10s' } });
    expect(usage.writeUnits / 5_000).toBeGreaterThan(5.1);
    expect(usage.writeUnits / 5_000).toBeLessThan(5.3);
    expect(usage.readUnits).toBeGreaterThan(0);
    expect(usage.sqsRequests / 5_000).toBeLessThan(0.4);
    expect(Object.keys(usage.invocations)).toEqual(expect.arrayContaining(['register', 'elect', 'group', 'batch']));
  });

  it('tells how many calls each limit delayed, and how old their tasks were', async () => {
    const operation = operationAt('http://127.0.0.1:1/batch', { batch: { maxSize: 5 }, limits: ['vendor', 'wide'] });
    const config = configFrom({
      operations: { ship: operation },
      limits: { vendor: { calls: 10 }, wide: { calls: 1_000 }, unused: { calls: 1 } },
    });
    const { limits, operations } = await simulate({ config, arrivals: steady(500, 100, 5) });
    const calls = operations[0]?.calls ?? 0;
    expect(limits).toMatchObject([
      { limit: 'vendor', operations: ['ship'], calls },
      { limit: 'wide', operations: ['ship'], calls, delayed: 0 },
    ]);
    expect(limits[0]?.delayed).toBeGreaterThan(calls / 2);
    expect(limits[0]?.delayed).toBeLessThanOrEqual(calls);
    expect(limits[0]?.ages.max).toBeGreaterThan(1_000);
    expect((await run()).limits).toEqual([]);
  });

  it('charges a large payload for its own row', async () => {
    const large = (n: number): Arrival => ({
      at: n,
      operation: 'ship',
      payload: JSON.stringify({ depot: 'D', text: 'x'.repeat(10_000) }),
    });
    const small = await run({ arrivals: steady(100, 1_000) });
    const { usage } = await run({ arrivals: Array.from({ length: 100 }, (_, n) => large(n)) });
    // The row is written twice: stored, and released.
    expect(usage.writeUnits - small.usage.writeUnits).toBeGreaterThan(100 * 2 * 9);
  });

  it('counts each 64 KB of register messages as an SQS request', async () => {
    const sent = (bytes: number) =>
      run({
        arrivals: Array.from({ length: 100 }, (_, n) => ({
          at: n,
          operation: 'ship',
          payload: JSON.stringify({ depot: 'D', text: 'x'.repeat(bytes) }),
        })),
      });
    const [small, large] = [await sent(10), await sent(200_000)];
    expect(small.produced).toEqual({ messages: 100, oneByOne: 100, tenAtOnce: 10 });
    // Each message has four parts of 64 KB, the last of them nearly empty. Ten messages have 31 parts together.
    expect(large.produced).toEqual({ messages: 100, oneByOne: 400, tenAtOnce: 310 });
    // Invocations receive different numbers of messages at once, so their last parts differ.
    const more = large.usage.sqsRequests - small.usage.sqsRequests;
    expect(more).toBeGreaterThan(290);
    expect(more).toBeLessThan(400);
  });

  it('continues after an outage of the downstream, and loses no task', async () => {
    const downstream = { ...QUICK, down: { from: 0, until: 120_000 } };
    const { succeeded, failed, unanswered } = only(await run({ downstream }));
    expect(unanswered).toBeGreaterThan(0);
    expect(succeeded + failed).toBe(1_000);
  });

  it('counts throttled calls, whose tasks do not fail', async () => {
    const downstream = { ...QUICK, callsPerSecond: 1 };
    const arrivals = steady(200, 100, 20);
    const { throttled, calls, succeeded, failed } = only(
      await run({ downstream, arrivals }, { batch: { maxSize: 10, maxWait: '1s' } }),
    );
    expect(throttled).toBeGreaterThan(0);
    expect(calls).toBeGreaterThan(throttled);
    expect([succeeded, failed]).toEqual([200, 0]);
  });

  it('reports why messages were rejected, and continues with the others', async () => {
    const arrivals = [...steady(10, 10), { at: 5_000, operation: 'unknown', payload: '{}' }];
    const outcome = await run({ arrivals });
    expect(outcome.rejected).toBe(1);
    expect(outcome.rejections.join()).toContain('unknown');
    expect(only(outcome).succeeded).toBe(10);
  });

  it('has at most as many calls an hour as the rate limit allows', async () => {
    const outcome = await run({ arrivals: steady(60, 6, 20) }, { rateLimit: 0.1 });
    const { calls, succeeded } = only(outcome);
    // Three tasks for each of 20 depots. Those that wait for the limit join the batch.
    expect([calls, succeeded]).toEqual([21, 60]);
    const perHour = callsPerHour(only(outcome), outcome.sentOver);
    expect(perHour).toBeGreaterThan(300);
    expect(perHour).toBeLessThan(400);
  });

  it('has as many calls an hour as the tasks need, without a rate limit', async () => {
    const outcome = await run({}, { batch: { maxSize: 50, maxWait: '10s' } });
    expect(callsPerHour(only(outcome), outcome.sentOver)).toBe((20 * 3_600_000) / outcome.sentOver);
  });

  it('is refused if its times go backwards', async () => {
    const arrivals = [...steady(2, 1), { at: 10, operation: 'ship', payload: '{"depot":"D"}' }];
    await expect(run({ arrivals })).rejects.toThrow(TraceDisorder);
  });

  it('is refused if it has a gap of years', async () => {
    const arrivals = [...steady(2, 1), { at: 1e12, operation: 'ship', payload: '{"depot":"D"}' }];
    await expect(run({ arrivals })).rejects.toThrow('days between two tasks');
  });

  it('takes its tasks one by one from an async generator', async () => {
    async function* slowly(): AsyncGenerator<Arrival> {
      for (const each of steady(30, 10)) {
        await new Promise((resolve) => setImmediate(resolve));
        yield each;
      }
    }
    expect(await run({ arrivals: slowly() })).toEqual(await run({ arrivals: steady(30, 10) }));
  });

  it('delays spenders beyond the capacity', async () => {
    const waits: number[] = [];
    const capacity: SimulateOptions['capacity'] = (spent) => {
      waits.push(spent.length);
      return spent.some(({ partition, write = 0 }) => partition !== undefined && write > 0) ? 40 : 0;
    };
    const slow = only(await run({ capacity }));
    expect(waits.length).toBeGreaterThan(0);
    expect(slow.waits.mean).toBeGreaterThan(only(await run()).waits.mean);
  });
});

it('the simulation of a long trace forgets ended tasks, so memory stays constant', async () => {
  const { SimulatedStack } = await import('../../tools/simulate/simulated-stack.ts');
  const { AWS } = await import('../../tools/simulate/platform.ts');
  const stack = new SimulatedStack({ config: configOf(), downstream: QUICK, surroundings: AWS, seed: 1 });
  let most = 0;
  // 15 minutes, ten tasks a second.
  for (const arrival of steady(9_000, 10, 3)) {
    const at = stack.start + arrival.at;
    while (stack.scheduler.next !== undefined && stack.scheduler.next < at) await stack.step();
    stack.scheduler.skipTo(at);
    stack.send(arrival);
    most = Math.max(most, stack.held);
  }
  // The tasks of about 80 s, and their batches.
  expect(most).toBeLessThan(10 * 80 * 2);
});
