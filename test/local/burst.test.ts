import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fewestBatches, registeredAt } from '../../bench/lateness.ts';
import { total } from '../../bench/meter.ts';
import { zipf } from '../../bench/zipf.ts';
import type { OperationTotals } from '../../tools/console/server/shapes.ts';
import { listen } from '../console/listen.ts';
import { expectEachTaskInOneBatch } from '../end-to-end/each-once.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from './flow.ts';

const TASKS = 10_000;
const TARGETS = 20;
/** Uneven: the busiest Target gets more than a quarter of the tasks. */
const DEPOTS = zipf(TASKS, TARGETS, 1);
const SIZE = 100;
/** One task in 500 fails. */
const FAILING = 500;
/**
 * In milliseconds. Longer than the registration of all tasks usually takes on a busy machine, so that only the last
 * batch of a Target is sealed by its age.
 */
const MAX_WAIT = 60_000;

describe('a burst of 10,000 tasks', () => {
  let flow: LocalFlow;
  let ids: string[];
  let took: number;

  beforeAll(async () => {
    flow = await startLocalFlow({ batch: { maxSize: SIZE, maxWait: `${MAX_WAIT}ms` } });
    flow.downstream.behave(({ items }) => ({
      status: 200,
      body: {
        results: items.map(({ id, payload }) => ({ id, status: Number(payload.n) % FAILING ? 'succeeded' : 'failed' })),
      },
    }));
    const from = performance.now();
    ids = await flow.send(
      Array.from({ length: TASKS }, (_, n) => ({ depot: `D${DEPOTS[n]}`, n, text: 'x'.repeat(450) })),
    );
    await flow.settled(ids, 500_000);
    took = performance.now() - from;
  }, 600_000);
  afterAll(() => flow.stop());

  it('reaches the downstream once, with one Target a batch', () => {
    expectEachTaskInOneBatch(flow.downstream.calls, ids);
    expect(flow.downstream.calls.flatMap(({ items }) => items)).toHaveLength(TASKS);
  });

  it('fills every batch except the last ones and those at maxWait', () => {
    const partial = new Map<string, number>();
    for (const { target, items } of flow.downstream.calls)
      if (items.length < SIZE) partial.set(target, (partial.get(target) ?? 0) + 1);
    const most = 1 + Math.ceil(took / MAX_WAIT);
    for (const [target, count] of partial) expect(count, target).toBeLessThanOrEqual(most);
  });

  it('stays within the cost per task that the engines count', () => {
    const per = (counts: ReadonlyMap<string, number>): number => total(counts) / TASKS;
    const { writeUnits, readUnits, sqsRequests, invocations } = flow.bill;
    const cost = { write: per(writeUnits), read: per(readUnits), sqs: per(sqsRequests), invocations: per(invocations) };
    console.log('a task:', JSON.stringify(cost));
    // The lower bounds show that the counts work.
    expect(cost.write).toBeGreaterThan(5);
    expect(cost.write).toBeLessThanOrEqual(5.3);
    expect(cost.read).toBeGreaterThan(0.5);
    // About 1.5 on an idle machine. On a busy one leaders are slower and hand over more often.
    expect(cost.read).toBeLessThanOrEqual(1.6);
    // Includes receives and deletes of ten messages at once, but not the producer's requests.
    expect(cost.sqs).toBeGreaterThan(0.2);
    expect(cost.sqs).toBeLessThanOrEqual(0.4);
    expect(cost.invocations).toBeGreaterThanOrEqual(0.1);
    expect(cost.invocations).toBeLessThanOrEqual(0.15);
  });

  it('makes at most 1% more batches than the minimum', async () => {
    const registered = await registeredAt(flow.stack.clients.dynamodb, flow.stack.addresses.tables.task);
    const fewest = [...Map.groupBy(registered.values(), ({ target }) => target).values()]
      .map((same) =>
        fewestBatches(
          same.map(({ at }) => at),
          SIZE,
          MAX_WAIT,
        ),
      )
      .reduce((sum, each) => sum + each, 0);
    expect(fewest).toBeGreaterThanOrEqual(TASKS / SIZE);
    expect(fewest / flow.downstream.calls.length).toBeGreaterThanOrEqual(0.99);
  });

  it('elects few leaders with few messages, as losers do not poll', () => {
    const elections = flow.bill.invocations.get('Flow-ElectHandler-Function') ?? 0;
    const leaders = flow.events.filter(({ event }) => event === 'led').length;
    // Polling losers would return for as long as a leader holds their Target: thousands of invocations.
    expect(elections).toBeLessThan(TASKS / 50);
    expect(leaders).toBeLessThan(TARGETS * 10);
  });

  it('appears in the console with the numbers of the tables', async () => {
    const { addresses, clients } = flow.stack;
    const rowsOf = async (table: string): Promise<Record<string, unknown>[]> => {
      const rows: Record<string, unknown>[] = [];
      for await (const { Items = [] } of paginateScan({ client: clients.dynamodb }, { TableName: table }))
        rows.push(...Items);
      return rows;
    };
    const [tasks, batches] = [await rowsOf(addresses.tables.task), await rowsOf(addresses.tables.batch)];
    const withStatus = (status: string): number => tasks.filter(({ Status }) => Status === status).length;
    const page = await listen(addresses.console ?? '', []);
    const shown = (): OperationTotals | undefined => page.last('metrics')?.totals.operations[0];
    // The event of the last batch follows the write of its results.
    await eventually(() => (shown()?.tasksSucceeded ?? 0) + (shown()?.tasksFailed ?? 0) >= TASKS);
    await page.close();
    expect(shown()).toEqual({
      operation: 'ship',
      tasksRegistered: tasks.length,
      tasksSucceeded: withStatus('succeeded'),
      tasksFailed: withStatus('failed'),
      batches: batches.length,
      calls: flow.downstream.calls.length,
      callsSaved: TASKS - flow.downstream.calls.length,
    });
    expect([tasks.length, withStatus('failed')]).toEqual([TASKS, TASKS / FAILING]);
    expect(batches.filter(({ FinishedAt }) => FinishedAt === undefined)).toEqual([]);
  });
});
