import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestbed } from '../../src/testing/index.ts';
import { type Flow, startFlow } from './flow.ts';
import { suiteInput } from './operations.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('four');
});
afterAll(() => flow?.stop());

interface Payload {
  readonly depot: string;
  readonly n: number;
}

/** The behaviour of both downstreams: the first call of each batch is throttled, and every third task fails. */
const results = (attempt: number, items: readonly { readonly id: string; readonly payload: Payload }[]) =>
  attempt === 1
    ? undefined
    : items.map(({ id, payload: { n } }) =>
        n % 3 === 0
          ? { id, status: 'failed' as const, error: { code: 'unknown', message: `no parcel ${n}`, retriable: false } }
          : { id, status: 'succeeded' as const, result: { n } },
      );

type Seen = Readonly<Record<string, unknown>>;

/** The fields of a task that do not depend on time. */
const lasting = ({ id, operation, target, status, payload, result, error, attempts, run }: Seen) => ({
  ...{ id, operation, target, status, payload, result, error, attempts, run },
});
const sorted = <T>(all: readonly T[]): T[] => [...all].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const sizes = (batches: readonly Seen[]) =>
  sorted(batches.map(({ target, status, sealedBy, size, counts }) => ({ target, status, sealedBy, size, counts })));

it('the testbed produces the same results, batches and calls as a whole stack', async () => {
  const tasks = Array.from({ length: 16 }, (_, n) => ({
    operation: 'four',
    id: `alike-${String(n).padStart(2, '0')}`,
    payload: { depot: `D${n % 2}`, n },
  }));
  flow.downstream.behave(({ attempt, items }) => {
    const said = results(attempt, items as never);
    return said ? { status: 200, body: { results: said } } : { status: 429 };
  });
  const ids = await flow.send(tasks);
  const there = await flow.ended(ids);
  const batchesThere = await Promise.all([...new Set(there.map(({ batchId }) => batchId))].map(flow.batch));

  const bed = createTestbed<{ four: Payload }>(suiteInput(flow.downstream.url), {
    downstreams: {
      four: ({ attempt, items }) => {
        const said = results(attempt, items);
        return said ? { results: said } : { status: 429 };
      },
    },
  });
  await bed.sendAll(tasks as never);
  await bed.settle();

  expect(sorted(bed.tasks.map((task) => lasting({ ...task })))).toEqual(sorted(there.map(lasting)));
  expect(sizes(bed.batches.map((batch) => ({ ...batch })))).toEqual(sizes(batchesThere));
  const attempts = (calls: readonly { attempt: number; items: readonly unknown[] }[]) =>
    sorted(calls.map(({ attempt, items }) => ({ attempt, items: items.length })));
  expect(attempts(bed.calls)).toEqual(attempts(flow.calls()));
});
