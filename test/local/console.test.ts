import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bill, metered, newBill, total } from '../../bench/meter.ts';
import { LOCAL } from '../../tools/console/server/interval.ts';
import type { LiveEvents } from '../../tools/console/server/shapes.ts';
import { type Listening, listen } from '../console/listen.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from './flow.ts';

/** Requests that a page may send at once, some of them expensive. */
const DEAR = [
  '/v1/operations',
  '/v1/operations/ship',
  ...['', '&status=failed', '&status=succeeded'].map((rest) => `/v1/tasks?target=ship%2Fdepot%3DA&limit=100${rest}`),
  ...[1, 2, 3, 4].map((n) => `/v1/targets?limit=${50 + n}`),
  ...['A', 'B', 'C'].map((depot) => `/v1/batches?target=ship%2Fdepot%3D${depot}`),
];

describe('the local console', () => {
  let flow: LocalFlow;
  let site: string;
  /** Only the API's units, as the engine counts them. */
  let bill: Bill;
  beforeAll(async () => {
    bill = newBill();
    const others = newBill();
    flow = await startLocalFlow(
      {},
      { clients: (clients, name) => metered(clients, name.includes('Api') ? bill : others) },
    );
    site = flow.stack.addresses.console ?? '';
  });
  afterAll(() => flow?.stop());

  const readSoFar = (): number => total(bill.readUnits);
  const bodyOf = <Body>(page: Listening, path: string): Body | undefined =>
    page.last('answer', (answer) => answer.path === path)?.body as Body | undefined;
  /** Rounds of reads that a page has received. */
  const rounds = (page: Listening): LiveEvents['usage'][] =>
    page.heard.flatMap((each) => (each.name === 'usage' ? [each.data] : []));

  it('reads nothing before a page is open', async () => {
    await setTimeout(3_000);
    expect(readSoFar()).toBe(0);
  });

  it('shows a page its tasks, their batch and results, and the totals', async () => {
    const path = `/v1/batches?target=${encodeURIComponent(flow.target('A'))}`;
    const page = await listen(site, [path, '/v1/operations']);
    await eventually(() => page.last('answer', (answer) => answer.path === path)?.status === 404);
    const tasks = [1, 2, 3].map((n) => ({ operation: 'ship', payload: { depot: 'A', n } }));
    const sent = await fetch(`${site}v1/tasks`, { method: 'POST', body: JSON.stringify({ tasks }) });
    expect(sent.status).toBe(202);
    await eventually(
      () => bodyOf<{ batches?: { status: string }[] }>(page, path)?.batches?.[0]?.status === 'succeeded',
    );
    const shown = () => page.last('metrics')?.totals.operations;
    await eventually(() => shown()?.[0]?.tasksSucceeded === 3);
    expect(shown()).toEqual([
      { operation: 'ship', tasksRegistered: 3, tasksSucceeded: 3, tasksFailed: 0, batches: 1, calls: 1, callsSaved: 2 },
    ]);
    expect(page.heard.filter(({ name }) => name === 'trouble')).toEqual([]);
    await page.close();
  });

  it('describes its source', async () => {
    const about = await (await fetch(`${site}console/about`)).json();
    expect(about).toMatchObject({
      source: { kind: 'local' },
      operations: ['ship'],
      readUnitsPerHourMax: LOCAL.readUnitsPerHourMax,
    });
  });

  it('keeps an open page within the stated read units, whatever it requests', async () => {
    const ids = await flow.send(
      Array.from({ length: 300 }, (_, n) => ({ depot: 'ABC'[n % 3], text: 'x'.repeat(2_000) })),
    );
    await flow.settled(ids);
    const before = readSoFar();
    const page = await listen(site, DEAR);
    await eventually(() => rounds(page).length > 1);
    const units = readSoFar() - before;
    const seen = rounds(page);
    await page.close();
    const { everySeconds = 0 } = seen.at(-1) ?? {};
    expect(seen.at(-1)?.readUnits).toBe(units);
    // Too expensive for a round every two seconds.
    expect((units / seen.length) * (3_600 / 2)).toBeGreaterThan(LOCAL.readUnitsPerHourMax);
    expect((units / seen.length) * (3_600 / everySeconds)).toBeLessThanOrEqual(LOCAL.readUnitsPerHourMax);
  });

  it('reads nothing after the page has closed', async () => {
    const page = await listen(site, ['/v1/operations']);
    await eventually(() => rounds(page).length > 0);
    await page.close();
    await eventually(async () => {
      const before = readSoFar();
      await setTimeout(5_000);
      return readSoFar() === before;
    });
  });
});
