import { describe, expect, it } from 'vitest';
import { AWS_CALL, TO_REPORT } from '../../src/domain/timings.ts';
import { Chaos } from '../../src/virtual/chaos.ts';
import { type FaultRates, InjectedFault, NO_FAULTS } from '../../src/virtual/faults.ts';
import { DOWNSTREAM_CALL, faultyGate } from '../../src/virtual/faulty-gate.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';

/** A gate with the given faults alone, and a way to run everything that follows. */
const world = (rates: Partial<FaultRates>, seed = 1) => {
  const scheduler = new Scheduler(0);
  const chaos = new Chaos(scheduler, { seed, rates: { ...NO_FAULTS, ...rates }, faultsEnd: 60_000 }, () => {});
  const random = chaos.chanceOf('λ');
  const process = { name: 'λ', function: 'λ', random, clockOffset: 0, endsAt: 60_000, outlivesTimeout: false };
  const gate: Gate = faultyGate(chaos, process);
  return { scheduler, chaos, gate, run: () => scheduler.run(() => false, 70_000) };
};

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

describe('an abandoned request', () => {
  it("takes effect after the caller's failure or the client's retry", async () => {
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const { gate, run } = world({ afterwards: 1 }, seed);
      const order: string[] = [];
      gate('tasks.claim', [() => order.push('written')]).then(
        () => order.push('answered'),
        (cause) => order.push(cause instanceof InjectedFault ? 'failed' : String(cause)),
      );
      await run();
      seen.add(order.join(', '));
    }
    expect([...seen].sort()).toEqual(['failed, written', 'written, answered, written']);
  });

  it('takes effect if its caller dies meanwhile', async () => {
    const { gate, run } = world({ afterwards: 1, crash: 1 });
    let written = 0;
    gate('tasks.claim', [() => (written += 1)]);
    await run();
    expect(written).toBe(1);
  });

  it('reports a write that the table refuses later', async () => {
    const { gate, run, chaos } = world({ afterwards: 1 });
    const violations: string[] = [];
    chaos.onViolation = ({ promise }) => violations.push(promise);
    gate('tasks.claim', [
      () => {
        throw new Error('too large');
      },
    ]).catch(() => {});
    await run();
    expect(violations).toEqual(['a step fails only because of an injected fault']);
  });

  it('is never a call of the downstream', async () => {
    const { gate, run } = world({ afterwards: 1 });
    let called = 0;
    gate(DOWNSTREAM_CALL, [() => (called += 1)]);
    await run();
    expect(called).toBe(1);
  });
});

describe('a request that hangs', () => {
  it('fails at its timeout, with or without an effect', async () => {
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const { gate, run, scheduler } = world({ hang: 1 }, seed);
      const order: string[] = [];
      gate('tasks.claim', [() => order.push('written')]).catch((cause) =>
        order.push(`${String(cause)} after ${scheduler.now} ms`),
      );
      await run();
      seen.add(order.join(', '));
    }
    const failed = `InjectedFault: tasks.claim: no answer after ${AWS_CALL} ms`;
    expect([...seen].sort()).toEqual([failed, `written, ${failed}`]);
  });

  it('leaves its function time to report the failure', async () => {
    const { gate, run, scheduler, chaos } = world({ hang: 1 });
    const ends: number[] = [];
    const again = async (): Promise<void> => {
      for (;;)
        try {
          await gate('tasks.claim', [() => 1]);
        } catch {
          ends.push(scheduler.now);
          if (scheduler.now >= 60_000 - TO_REPORT) return;
        }
    };
    again();
    await run();
    expect(ends.at(-1)).toBe(60_000 - TO_REPORT);
    expect([...chaos.late, ...chaos.died]).toEqual([]);
    await expect(gate('tasks.claim', [() => 1])).rejects.toThrow('no time left');
  });

  it('is never a call of the downstream', async () => {
    const { gate, run } = world({ hang: 1 });
    const answers = gate(DOWNSTREAM_CALL, [() => 1]);
    await run();
    expect(await answers).toEqual([1]);
  });
});

describe('a transaction conflict', () => {
  it('writes nothing, and answers false', async () => {
    const { gate, run } = world({ conflict: 1 });
    let written = 0;
    const answers = gate('lists.take', [() => ++written > 0]);
    await run();
    expect([await answers, written]).toEqual([[false], 0]);
  });

  it('does not occur in a write of one row', async () => {
    const { gate, run } = world({ conflict: 1 });
    const answers = gate('locks.acquire', [() => true]);
    await run();
    expect(await answers).toEqual([true]);
  });
});
