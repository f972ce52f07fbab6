/**
 * The doctor finds and repairs work that is stuck since its message was lost. The sweep's patrol repairs locks too,
 * and may be faster: such tests make the work stuck once more.
 */
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { DeleteCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setting } from '../../src/domain/deployed/environment.ts';
import { batchIdOf, type Target } from '../../src/domain/ids.ts';
import { target } from '../factories/factories.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('patient');
});
afterAll(() => flow?.stop());

/** An hour ago: later than any age that a finding needs, and than any `maxWait`. */
const longAgo = (): number => Date.now() - 3_600_000;

const table = (name: 'taskTable' | 'batchLockTable' | 'batchTable') => setting(flow.backend.settings, name);

/** Writes attributes into a row, as a crashed function would have left them. */
const write = async (
  name: Parameters<typeof table>[0],
  Key: object,
  values: Record<string, unknown>,
): Promise<void> => {
  const names = Object.keys(values).map((attribute, n) => [`#n${n}`, attribute] as const);
  await flow.backend.clients.dynamodb.send(
    new UpdateCommand({
      TableName: table(name),
      Key,
      UpdateExpression: `SET ${names.map(([alias], n) => `${alias} = :v${n}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names),
      ExpressionAttributeValues: Object.fromEntries(Object.values(values).map((value, n) => [`:v${n}`, value])),
    }),
  );
};

const lockKey = (Target: Target) => ({ Target, Entry: 'lock' });
const lockOf = async (Target: Target): Promise<Record<string, unknown>> => {
  const key = { TableName: table('batchLockTable'), Key: lockKey(Target), ConsistentRead: true };
  return (await flow.backend.clients.dynamodb.send(new GetCommand(key))).Item ?? {};
};

/** A task that waits; its leader's guard comes back in ten minutes. */
const waiting = async (depot: string): Promise<{ id: string; where: Target; lock: Record<string, unknown> }> => {
  const where = target(flow.target(depot));
  const [id = ''] = await flow.send([{ depot }]);
  const lock = await eventually(async () => {
    const found = await lockOf(where);
    return found.LockHolder === undefined ? undefined : found;
  });
  return { id, where, lock };
};

const flush = (where: Target) =>
  flow.backend.api('/targets/flush', { method: 'POST', body: JSON.stringify({ target: where }) });

/** Flushes the Target, and waits until the task has ended and the lock is released. */
const finished = async (where: Target, id: string): Promise<void> => {
  await flush(where);
  await flow.ended([id]);
  await eventually(async () => (await lockOf(where)).LockHolder === undefined);
};

/** Sets the age of all waiting rows of a Target to one hour. */
const age = async (where: Target): Promise<void> => {
  const { Items = [] } = await flow.backend.clients.dynamodb.send(
    new QueryCommand({
      TableName: table('batchLockTable'),
      KeyConditionExpression: '#target = :target AND begins_with(Entry, :wait)',
      ExpressionAttributeNames: { '#target': 'Target' },
      ExpressionAttributeValues: { ':target': where, ':wait': 'wait#' },
      ConsistentRead: true,
    }),
  );
  for (const { Target, Entry } of Items) await write('batchLockTable', { Target, Entry }, { At: longAgo() });
};

interface Found {
  readonly finding: string;
  readonly target: string;
  readonly repaired?: boolean;
}

/** Reads all pages of findings: of the Targets of the operation, or of the batches of a Target. */
const examine = async (what: 'targets' | 'batches', method: 'GET' | 'POST', where: Target): Promise<Found[]> => {
  const found: Found[] = [];
  let cursor: string | undefined;
  do {
    const of = what === 'targets' ? { operation: flow.operation } : { target: where };
    const query = new URLSearchParams({ ...of, limit: '2', ...(cursor ? { cursor } : {}) });
    const response = await flow.backend.api(`/doctor/${what}?${query}`, { method });
    expect(response.status).toBe(200);
    const page = (await response.json()) as { findings: Found[]; cursor?: string };
    found.push(...page.findings.filter((each) => each.target === where));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
};

let made = 0;
/** Makes a Target stuck, and has the doctor find and repair it. @param stick makes the Target stuck */
const treated = <Stuck extends { where: Target }>(stick: (depot: string) => Promise<Stuck>) =>
  eventually(async () => {
    made += 1;
    const stuck = await stick(`stuck-${made}`);
    const found = await examine('targets', 'GET', stuck.where);
    const repaired = await examine('targets', 'POST', stuck.where);
    return found.length > 0 && repaired.length > 0 ? { ...stuck, found, repaired } : undefined;
  });

describe('the doctor', () => {
  it('elects a leader for tasks that wait in a Target without one', async () => {
    const { id, where, found, repaired } = await treated(async (depot) => {
      const stuck = await waiting(depot);
      await age(stuck.where);
      await flow.backend.clients.dynamodb.send(
        new UpdateCommand({
          TableName: table('batchLockTable'),
          Key: lockKey(stuck.where),
          UpdateExpression: 'REMOVE LockHolder',
        }),
      );
      return stuck;
    });
    expect(found).toEqual([
      { finding: 'stranded', operation: 'patient', target: where, since: expect.stringMatching(/Z$/) },
    ]);
    expect(repaired).toMatchObject([{ finding: 'stranded', repaired: true, remedy: 'elect-message' }]);
    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded' }]);
    expect(await examine('targets', 'GET', where)).toEqual([]);
  });

  it('elects a leader for tasks whose leader died and lost its guard', async () => {
    const { id, found } = await treated(async (depot) => {
      const stuck = await waiting(depot);
      await age(stuck.where);
      await write('batchLockTable', lockKey(stuck.where), { LockedUntil: longAgo() });
      return stuck;
    });
    expect(found).toMatchObject([{ finding: 'expired-lock', tasksWait: true }]);
    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded' }]);
  });

  it('releases the lock of a dead leader if no task waits; the next task is done', async () => {
    const { where, depot, found, repaired } = await treated(async (depot) => {
      const { id, where: Target } = await waiting(depot);
      await finished(Target, id);
      await write('batchLockTable', lockKey(Target), { LockHolder: 'gone', LockedUntil: longAgo() });
      return { where: Target, depot };
    });
    expect(found).toMatchObject([{ finding: 'expired-lock', tasksWait: false }]);
    expect(repaired).toMatchObject([{ finding: 'expired-lock', repaired: true, remedy: 'lock-released' }]);
    expect((await lockOf(where)).LockHolder).toBeUndefined();
    const [next = ''] = await flow.send([{ depot }]);
    await eventually(async () => (await lockOf(where)).LockHolder !== undefined);
    await flush(where);
    expect(await flow.ended([next])).toMatchObject([{ status: 'succeeded' }]);
  });

  it('has a batch finished whose leader died, with the tasks that it claimed', async () => {
    const { id, batch, found } = await treated(async (depot) => {
      const { id, where, lock } = await waiting(depot);
      const batch = batchIdOf(where, Number(lock.Fence), 1);
      await write('taskTable', { Id: id }, { Status: 'batched', BatchId: batch });
      await write('batchLockTable', lockKey(where), { OpenBatch: batch, Round: 1, LockedUntil: longAgo() });
      return { id, where, batch };
    });
    expect(found).toMatchObject([{ finding: 'leaderless-batch', batchId: batch }]);
    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded', batchId: batch }]);
  });

  it('sends a batch message again if the queue was purged', async () => {
    flow.downstream.behave(() => ({ status: 503, headers: { 'retry-after': '900' } }));
    const ship = flow.of('ship');
    const where = target(ship.target('purged'));
    const [id = ''] = await ship.send([{ depot: 'purged' }]);
    const { batchId } = await eventually(async () => {
      const task = await ship.task(id);
      const batch = task?.batchId === undefined ? undefined : await ship.batch(task.batchId);
      const waits = Date.parse(String(batch?.nextAttemptAfter)) - Date.now() > 600_000;
      return waits ? task : undefined;
    });
    await flow.backend.clients.sqs.send(new PurgeQueueCommand({ QueueUrl: flow.queue('batchQueue') }));
    expect(await examine('batches', 'GET', where)).toEqual([]);
    await write('batchTable', { BatchId: batchId }, { RunUntil: longAgo() });
    flow.downstream.behave(() => ({ status: 200 }));

    expect(await examine('batches', 'GET', where)).toMatchObject([{ finding: 'overdue-batch', batchId }]);
    expect((await ship.task(id))?.status).toBe('in-progress');
    // AWS purges for up to a minute, and may delete messages sent meanwhile.
    const ended = await eventually(async () => {
      for (const each of await examine('batches', 'POST', where)) expect(each.repaired).toBe(true);
      await ship.settled([id], 10_000).catch(() => undefined);
      const task = await ship.task(id);
      return task?.status === 'succeeded' ? task : undefined;
    });
    expect(ended).toMatchObject({ batchId });
    expect(await examine('batches', 'GET', where)).toEqual([]);
  });

  it('finds the tasks that an operation left when it was removed', async () => {
    const { where } = await waiting('left');
    const removed = `removed/depot=${crypto.randomUUID()}`;
    const { dynamodb } = flow.backend.clients;
    const TableName = table('batchLockTable');
    const { Items = [] } = await dynamodb.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: '#target = :target',
        ExpressionAttributeNames: { '#target': 'Target' },
        ExpressionAttributeValues: { ':target': where },
        ConsistentRead: true,
      }),
    );
    const rows = Items.map((row) => ({ ...row, Target: removed, ...(row.Operation ? { Operation: 'removed' } : {}) }));
    for (const Item of rows) await dynamodb.send(new PutCommand({ TableName, Item }));
    const left = await eventually(async () => {
      let cursor: string | undefined;
      do {
        const query = cursor ? `?${new URLSearchParams({ cursor })}` : '';
        const response = await flow.backend.api(`/doctor/removed${query}`);
        const page = (await response.json()) as { operations: { operation: string }[]; cursor?: string };
        const found = page.operations.find(({ operation }) => operation === 'removed');
        if (found) return found;
        cursor = page.cursor;
      } while (cursor !== undefined);
      return undefined;
    });
    expect(left).toMatchObject({ targets: 1, waiting: 1 });
    for (const { Entry } of Items) {
      await dynamodb.send(new DeleteCommand({ TableName, Key: { Target: removed, Entry } }));
    }
  });

  it('answers 400 to invalid requests, and 405 to other methods', async () => {
    for (const path of ['targets?limit=0', 'targets?operation=none', 'batches', 'batches?target=ship&cursor=e30'])
      for (const method of ['GET', 'POST'])
        expect((await flow.backend.api(`/doctor/${path}`, { method })).status, path).toBe(400);
    expect((await flow.backend.api('/doctor/targets', { method: 'DELETE' })).status).toBe(405);
  });
});

describe('the sweep', () => {
  it('releases the lock of a dead leader if no task waits', async () => {
    const where = target(flow.target('patrolled'));
    const { id } = await waiting('patrolled');
    await finished(where, id);
    await write('batchLockTable', lockKey(where), { LockHolder: 'gone', LockedUntil: longAgo() });
    await eventually(async () => {
      await flow.backend.invoke('SweepHandler', { source: 'aws.events' });
      return (await lockOf(where)).LockHolder === undefined;
    });
  });
});
