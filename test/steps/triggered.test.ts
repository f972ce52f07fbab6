import { beforeEach, expect, it } from 'vitest';
import { type ListId, listId, taskOf, trackerOf } from '../../src/domain/lists/ids.ts';
import { printRejection } from '../../src/domain/register/rejection.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest } from '../../src/steps/fan-outs/end.ts';
import { append } from '../../src/steps/lists/append.ts';
import { JOBS_AT_ONCE, trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import { redriveDeadLetterQueue } from '../../src/steps/repair/dead-letters.ts';
import { redriveRefused } from '../../src/steps/repair/refused-messages.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { id, NOW, token } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { deadLetter, depot, kit, message, suite, where } from './step-suite.ts';

const DOWN = async (): Promise<never> => {
  throw new Error('DynamoDB is down');
};

suite('triggered jobs', () => {
  let list: ListId;
  beforeEach(() => {
    list = listId(`l-${depot}`) as ListId;
  });

  const opened = async (count: number, payloadOf: (n: number) => object = (n) => ({ depot, n }), name = list) => {
    await kit.lists.open({ id: trackerOf(name), createdAt: NOW, operation: 'ship' }, NOW + 120_000);
    for (let first = 0; first < count; first += 1_000) {
      const size = Math.min(1_000, count - first);
      const payloads = Array.from({ length: size }, (_, n) => JSON.stringify(payloadOf(first + n)));
      expect(await append(kit, name, payloads, token(`add-${first}`))).toMatchObject({ kind: 'appended', first });
    }
  };
  /** Triggers jobs, and returns the message that was sent. */
  const triggered = async (count: number, name = list): Promise<string> => {
    await trigger(kit, name, { count }, token('t'));
    return kit.sent.registered.splice(0).join();
  };
  /** Delivers messages of the register queue once. The messages that it sends stay in `sent`. */
  const deliver = (...bodies: readonly string[]): Promise<void> =>
    register(
      kit,
      bodies.map((body, n) => ({ messageId: `m-${n}`, body })),
    );
  const tasks = (count: number, name = list) => kit.tasks.all(Array.from({ length: count }, (_, n) => taskOf(name, n)));
  const slots = async (count: number) =>
    (await kit.fanOuts.node(trackerOf(list), { level: 0, n: 0 }))?.slots.slice(0, count);

  it('become tasks with their payloads, as items of the list, only once', async () => {
    await opened(3);
    const body = await triggered(2);
    await deliver(body);
    expect((await tasks(3)).map(({ id: name, fanOutItem, target }) => [name, fanOutItem, target])).toEqual([
      [`${list}:0`, `~${list}:0:0`, where],
      [`${list}:1`, `~${list}:0:1`, where],
    ]);
    expect(await kit.tasks.payload(taskOf(list, 1))).toBe(JSON.stringify({ depot, n: 1 }));
    await deliver(body, body);
    expect(await kit.waiting.first(where, 9)).toHaveLength(2);
    expect([kit.sent.rejected, kit.sent.registered, kit.sent.elect.length]).toEqual([[], [], 1]);
  });

  it('of many triggers in one delivery are limited to those of one trigger', async () => {
    await opened(900);
    const bodies: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      await trigger(kit, list, { count: 90 }, token(`t-${n}`));
      bodies.push(...kit.sent.registered.splice(0));
    }
    await deliver(...bodies);
    const started = await tasks(900);
    expect(started.length).toBeGreaterThan(400);
    expect(started.length).toBeLessThanOrEqual(JOBS_AT_ONCE);
    while (kit.sent.registered.length > 0) await deliver(...kit.sent.registered.splice(0));
    expect(await tasks(900)).toHaveLength(900);
  });

  it('that are invalid are rejected with reasons, and count as failed', async () => {
    await opened(4, (n) => (n % 2 === 0 ? { depot, n } : { depto: depot, n }));
    await seal(kit, trackerOf(list));
    await deliver(await triggered(4));
    expect((await tasks(4)).map(({ id: name }) => name)).toEqual([`${list}:0`, `${list}:2`]);
    expect(kit.sent.rejected.map(({ body, problems }) => [JSON.parse(body).id, problems])).toEqual(
      [1, 3].map((n) => [`${list}:${n}`, [{ path: 'payload.depot', reason: expect.any(String) }]]),
    );
    expect(await slots(4)).toEqual([null, false, null, false]);
  });

  it('complete their list if all of them are rejected', async () => {
    await opened(2, () => ({}));
    await seal(kit, trackerOf(list));
    await deliver(await triggered(2));
    expect(await kit.lists.read(list)).toMatchObject({ status: 'complete', ended: { failed: 2 } });
  });

  it('count as failed if another task has their id; that task stays as it is', async () => {
    await opened(2);
    await register(kit, [message(0, { id: taskOf(list, 1), payload: { depot, mine: true } })]);
    await deliver(await triggered(2));
    expect(kit.sent.rejected).toMatchObject([{ messageId: 'm-0', problems: [{ path: 'id' }] }]);
    expect(await slots(2)).toEqual([null, false]);
    expect(await kit.tasks.payload(taskOf(list, 1))).toBe(JSON.stringify({ depot, mine: true }));
  });

  it('start 500 at a time; the next message is sent when all of these wait', async () => {
    await opened(1_100);
    let body = await triggered(1_100);
    const waiting = { ...kit.waiting, put: DOWN };
    await expect(register({ ...kit, waiting }, [{ messageId: 'm', body }])).rejects.toThrow('DynamoDB is down');
    expect(kit.sent.registered).toEqual([]);
    for (const from of [500, 1_000]) {
      await deliver(body);
      expect(kit.sent.registered).toEqual([JSON.stringify({ list, trigger: 't', count: 1_100, from })]);
      expect(await tasks(1_100)).toHaveLength(from);
      body = kit.sent.registered.splice(0).join();
    }
    await deliver(body);
    expect([kit.sent.registered, (await tasks(1_100)).length]).toEqual([[], 1_100]);
  });

  it('of a large trigger do not delay those of a small trigger', async () => {
    const small = listId(`small-${depot}`) as ListId;
    await opened(3_000);
    await opened(10, undefined, small);
    const queue = [await triggered(3_000), await triggered(10, small)];
    for (let served = 0; (await tasks(10, small)).length < 10; served += 1) {
      expect(served).toBeLessThan(2);
      await deliver(queue.shift() ?? '');
      queue.push(...kit.sent.registered.splice(0));
    }
    expect(await tasks(3_000)).toHaveLength(500);
    while (queue.length > 0) {
      await deliver(queue.shift() ?? '');
      queue.push(...kit.sent.registered.splice(0));
    }
    expect(await tasks(3_000)).toHaveLength(3_000);
  });

  it('are taken by the message if the caller stopped; none after a cancel', async () => {
    await opened(10);
    await expect(
      trigger({ ...kit, lists: { ...kit.lists, take: DOWN } }, list, { count: 4 }, token('t')),
    ).rejects.toThrow();
    const [body = ''] = kit.sent.registered.splice(0);
    const late = body.replace('"t"', '"late"');
    await deliver(body);
    expect([(await tasks(10)).length, (await kit.lists.read(list))?.head]).toEqual([4, 4]);
    const header = await kit.fanOuts.read(trackerOf(list));
    if (header) await cancelRest(kit, header);
    await deliver(late, body, late.replace(list, 'nobody'));
    expect([(await tasks(10)).length, (await kit.lists.read(list))?.head]).toEqual([4, 4]);
    expect([kit.sent.rejected, kit.sent.registered]).toEqual([[], []]);
  });

  it('are not taken by a forged message or for a list with claims', async () => {
    const pulled = listId(`pulled-${depot}`) as ListId;
    await opened(10);
    await kit.lists.open({ id: trackerOf(pulled), createdAt: NOW }, NOW + 120_000);
    await opened(10, undefined, pulled);
    const forged = { trigger: 'forged', count: 10 };
    await deliver(JSON.stringify({ list, ...forged, from: 7 }), JSON.stringify({ list: pulled, ...forged, from: 0 }));
    for (const each of [list, pulled])
      expect([(await tasks(10, each)).length, (await kit.lists.read(each))?.head]).toEqual([0, 0]);
    expect(kit.sent.registered).toEqual([]);
  });

  it('are ended by their own tasks only', async () => {
    await opened(2);
    kit.mode = 'warn';
    await register(kit, [message(0, { fanOutItem: `~${list}:0:0` }), message(1, { fanOutItem: `${list}:0:0` })]);
    expect(kit.sent.rejected.map(({ problems }) => problems)).toEqual([
      [{ path: 'fanOutItem', reason: expect.stringContaining('must be the id of an item') }],
    ]);
    await cancel(kit, id(`${depot}-1`));
    expect(await slots(2)).toBeUndefined();
  });

  it('that are done start no task', async () => {
    await opened(3);
    const body = await triggered(3);
    await kit.fanOuts.putNode(trackerOf(list), { level: 0, n: 0 }, { slots: new Map([[1, true]]), failed: 0, at: NOW });
    await deliver(body);
    expect((await tasks(3)).map(({ id: name }) => name)).toEqual([`${list}:0`, `${list}:2`]);
  });

  it('start from a redriven dead letter; an invalid message is rejected', async () => {
    await opened(2);
    const body = await triggered(2);
    kit.letters.register = [deadLetter(body)];
    const walked = await redriveDeadLetterQueue(kit, 'register', { began: NOW, mayGoOn: () => true }, () => 0);
    expect([walked, kit.sent.revived.map((each) => each.deadLetter.body)]).toEqual([
      { revived: 1, skipped: [], failures: [], isDone: true },
      [body],
    ]);
    await deliver(body, `{"list":"l:1","trigger":"","count":-1,"from":"0","operation2":1}`);
    expect(await tasks(2)).toHaveLength(2);
    expect(kit.sent.rejected.map(({ problems }) => problems.map(({ path }) => path).toSorted())).toEqual([
      ['count', 'from', 'list', 'operation2', 'trigger'],
    ]);
  });

  it('that are valid now are sent again from the rejected queue one by one', async () => {
    await opened(12);
    const without: StepKit = { ...kit, config: { ...kit.config, operations: {} } };
    await register(without, [{ messageId: 'm', body: await triggered(12) }]);
    expect(kit.sent.rejected).toHaveLength(12);
    const bad = {
      messageId: 'm-9',
      body: `{"list":"${list}","trigger":"t","count":-1,"from":0}`,
      problems: [],
      at: NOW,
    };
    const good = { ...bad, messageId: 'm-8', body: bad.body.replace('-1', '1') };
    kit.letters.rejected = [...kit.sent.rejected, bad, good].map((each, n) => deadLetter(printRejection(each), n));
    let looks = 0;
    const mayGoOn = (): boolean => {
      looks += 1;
      return looks < 9;
    };
    const { revived, skipped } = await redriveRefused(kit, { began: NOW, mayGoOn });
    expect([revived, skipped]).toEqual([
      13,
      [{ id: 'letter-12', reason: expect.stringMatching(/^it would be rejected again: count must be a whole number/) }],
    ]);
    const bodies = kit.sent.revived.map((each) => each.deadLetter.body);
    expect(bodies.at(-1)).toBe(good.body);
    await deliver(...bodies);
    expect(await tasks(12)).toHaveLength(12);
    expect(await kit.tasks.get(id(`${list}:2`))).toMatchObject({ state: { status: 'created' } });
  });
});
