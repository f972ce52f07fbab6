import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

describe('the flow', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow('shapes');
  });
  afterAll(() => flow?.stop());

  it('sends a single task alone after a maxWait shorter than SQS can delay', async () => {
    const [id = ''] = await flow.send([{ depot: 'lonely' }]);
    const [task] = await flow.ended([id]);
    const batch = await flow.batch(task?.batchId);
    expect(batch).toMatchObject({ sealedBy: 'waited', size: 1 });
    expect(Date.parse(String(batch.sealedAt)) - Date.parse(String(batch.oldestAt))).toBeGreaterThanOrEqual(400);
    expect(task).toMatchObject({ status: 'succeeded', attempts: 1, batchId: `${flow.target('lonely')}#1#1` });
  });

  it('batches tasks that trickle in within maxWait', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      ids.push(...(await flow.send([{ depot: 'trickle', n }])));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await flow.settled(ids);
    const calls = flow.calls('trickle');
    expectEachTaskInOneBatch(calls, ids);
    expect(calls.length).toBeLessThan(ids.length);
  });

  it('gives each of hundreds of Targets a leader and a batch', async () => {
    const ids = await flow.send(Array.from({ length: 400 }, (_, n) => ({ depot: `many-${n % 200}`, n })));
    await flow.settled(ids, 400_000);
    const calls = flow.calls().filter(({ target }) => target.startsWith(flow.target('many-')));
    expectEachTaskInOneBatch(calls, ids);
    expect(new Set(calls.map(({ target }) => target)).size).toBe(200);
  }, 450_000);

  it('keeps large payloads whole, and exceeds maxBytes in no batch', async () => {
    const ids = await flow.send(Array.from({ length: 9 }, (_, n) => ({ depot: 'large', n, text: 'ü'.repeat(50_000) })));
    await flow.settled(ids);
    const calls = flow.calls('large');
    expectEachTaskInOneBatch(calls, ids);
    for (const { items, text } of calls) {
      expect(Buffer.byteLength(text)).toBeLessThan(301_000);
      for (const { payload } of items) expect(payload.text).toHaveLength(50_000);
    }
    expect(Math.max(...calls.map(({ items }) => items.length))).toBeLessThanOrEqual(2);
  });

  it('passes a payload on byte by byte', async () => {
    const payload = '{ "depot": "letter", "n": 12345678901234567890, "s": "\\u00fc" }';
    const response = await flow.backend.api('/tasks', {
      method: 'POST',
      body: `{"operation":"shapes","payload":${payload}}`,
    });
    const { ids } = (await response.json()) as { ids: string[] };
    await flow.ended(ids);
    expect(flow.calls('letter')[0]?.text).toContain(`"payload":${payload}`);
    expect(await (await flow.backend.api(`/tasks/${ids[0]}`)).text()).toContain(`"payload":${payload}`);
  });
});

describe('a Target with a long maxWait', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow('patient');
  });
  afterAll(() => flow?.stop());

  /** The fence of the Target's leader, if it has one. */
  const leaderOf = async (target: string): Promise<number | undefined> => {
    const { targets } = (await flow.get('/targets?operation=patient')) as {
      targets: { target: string; leader: { fence: number } | null }[];
    };
    return targets.find((each) => each.target === target)?.leader?.fence;
  };

  it('wakes its leader when the batch is full', async () => {
    const first = await flow.send([{ depot: 'nudged', n: 0 }]);
    await eventually(async () => (await leaderOf(flow.target('nudged'))) === 1);
    const rest = await flow.send(Array.from({ length: 7 }, (_, n) => ({ depot: 'nudged', n: n + 1 })));
    const [task] = await flow.ended([...first, ...rest]);
    expect(flow.calls('nudged').map(({ items }) => items.length)).toEqual([8]);
    expect(await flow.batch(task?.batchId)).toMatchObject({ sealedBy: 'full' });
  });

  it('is sealed by a flush as it is; later tasks wait', async () => {
    const target = flow.target('flushed');
    const flush = () => flow.backend.api('/targets/flush', { method: 'POST', body: JSON.stringify({ target }) });
    expect((await flush()).status).toBe(404);
    const ids = await flow.send([
      { depot: 'flushed', n: 1 },
      { depot: 'flushed', n: 2 },
    ]);
    await eventually(async () => (await leaderOf(target)) === 1);
    const answer = await flush();
    expect([answer.status, await answer.json()]).toEqual([202, { target, waiting: 2 }]);
    const [task] = await flow.ended(ids);
    expect(await flow.batch(task?.batchId)).toMatchObject({ sealedBy: 'flush', size: 2 });
    const [later = ''] = await flow.send([{ depot: 'flushed', n: 3 }]);
    await eventually(async () => ((await leaderOf(target)) ?? 0) > 1);
    expect((await flow.task(later))?.status).toBe('created');
    expect(flow.calls('flushed')).toHaveLength(1);
  });
});
