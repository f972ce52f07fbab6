/** Which reads are strongly consistent: all but those that the ports call eventually consistent (src/ports.ts). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBPatrolMarks } from '../../src/aws/dynamodb-waiting.ts';
import { voidAttempts, voidLeases } from '../../src/aws/recovery.ts';
import { slotOf } from '../../src/batching/slots.ts';
import type { Task } from '../../src/batching/task.ts';
import type { PatrolMarks } from '../../src/ports.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { fresh } from '../contract/names.ts';
import { dynamoDBStores, type Stores } from '../contract/stores.ts';
import { aPostponed, aStart, aTask, candidate, NOW, operationName, token } from '../factories/factories.ts';

type Reads = 'strong' | 'eventual' | 'none';
type Ports = Pick<Stores, 'tasks' | 'waiting' | 'locks' | 'batches' | 'operations'> & {
  readonly patrolMarks: PatrolMarks;
  /** No port: what a local start reads before anything else. */
  readonly recovery: { voidLeases(): Promise<unknown>; voidAttempts(): Promise<unknown> };
};

/** A call that is new has to be named here. */
const PROMISED: { readonly [Port in keyof Ports]: Readonly<Record<keyof Ports[Port], Reads>> } = {
  tasks: {
    insert: 'strong',
    storePayloads: 'none',
    claim: 'strong',
    redrive: 'strong',
    members: 'strong',
    finish: 'strong',
    get: 'strong',
    all: 'strong',
    settle: 'strong',
    outlines: 'strong',
    payload: 'strong',
    failed: 'eventual',
  },
  waiting: { put: 'none', first: 'strong', has: 'strong', page: 'eventual', remove: 'none', count: 'eventual' },
  locks: {
    read: 'strong',
    readAll: 'strong',
    enlist: 'none',
    glance: 'eventual',
    acquire: 'none',
    release: 'none',
    handOver: 'none',
    openBatch: 'none',
    closeBatch: 'none',
    block: 'none',
    land: 'none',
    pause: 'none',
    resume: 'none',
    burn: 'none',
    flush: 'strong',
    targets: 'eventual',
  },
  operations: {
    read: 'strong',
    takeSlot: 'none',
    freeSlot: 'none',
    enqueue: 'none',
    waiting: 'strong',
    dequeue: 'none',
    pause: 'none',
    resume: 'none',
    addFailure: 'none',
    resetFailures: 'none',
    reserveCall: 'none',
  },
  batches: {
    form: 'strong',
    get: 'strong',
    seal: 'strong',
    start: 'none',
    postpone: 'none',
    finish: 'none',
    ofTarget: 'eventual',
  },
  patrolMarks: { read: 'strong', write: 'none' },
  recovery: { voidLeases: 'strong', voidAttempts: 'strong' },
};

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());

/** How a request reads, table by table; nothing, if it does not. */
const readsIn = (commandName: string, input: object): Reads[] => {
  const reads = ((): object[] => {
    switch (commandName) {
      case 'BatchGetItemCommand':
        return Object.values((input as { RequestItems: Record<string, object> }).RequestItems);
      case 'GetItemCommand':
      case 'QueryCommand':
      case 'ScanCommand':
        return [input];
      default:
        return [];
    }
  })();
  return reads.map((read) => ('ConsistentRead' in read && read.ConsistentRead === true ? 'strong' : 'eventual'));
};

/** The ports, and how each of their calls has read so far. */
const watched = () => {
  const { clients, tables } = resources;
  const { tasks, waiting, locks, batches, operations } = dynamoDBStores(resources);
  const seen: Record<string, Record<string, Reads[]>> = {};
  let noted: Reads[] = [];
  clients.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        noted.push(...readsIn(String(commandName), args.input));
        return next(args);
      },
    { step: 'initialize', name: 'reads' },
  );
  /** One call at a time, so that it is known whose reads these are. */
  const watch = <Port extends object>(name: string, port: Port): Port => {
    const calls: Record<string, Reads[]> = {};
    seen[name] = calls;
    return Object.fromEntries(
      Object.entries(port).map(([call, run]: [string, (...args: unknown[]) => Promise<unknown>]) => [
        call,
        async (...args: unknown[]) => {
          noted = [];
          const answer = await run(...args);
          calls[call] = [...new Set([...(calls[call] ?? []), ...noted])];
          return answer;
        },
      ]),
    ) as Port;
  };
  const ports: Ports = {
    tasks: watch('tasks', tasks),
    waiting: watch('waiting', waiting),
    locks: watch('locks', locks),
    batches: watch('batches', batches),
    operations: watch('operations', operations),
    patrolMarks: watch('patrolMarks', dynamoDBPatrolMarks(clients.dynamodb, tables.batchLock)),
    recovery: watch('recovery', {
      voidLeases: () => voidLeases(clients.dynamodb, tables.batchLock),
      voidAttempts: () => voidAttempts(clients.dynamodb, tables.batch),
    }),
  };
  return { ports, seen };
};

/** Every call of every port, in a place where it reads if it ever does: mostly, where it is refused. */
const callAll = async ({ tasks, waiting, locks, batches, operations, patrolMarks, recovery }: Ports): Promise<void> => {
  const { t, target, batch } = fresh();
  const task = aTask({ id: t(1), target, payload: `{"s":"${'x'.repeat(2_000)}"}` });
  const end = { id: batch, target, attempts: 1, at: NOW, keep: 1_000 };
  const error = { code: 'bad', message: 'm', retriable: false };
  for (const _ of ['done', 'refused']) {
    await tasks.insert([task]);
    await tasks.storePayloads([{ ...task, run: 1 }]);
    await tasks.claim([candidate(t(1))], batch);
    await tasks.members([t(1)], batch);
    await tasks.payload(t(1));
    await tasks.finish([{ id: t(1), outcome: { status: 'failed', error } }], end);
  }
  const settlement = { task: { id: t(1), run: 1, target }, as: { status: 'failed', error } as const };
  await tasks.settle([settlement], { at: NOW, keep: 1_000 });
  await tasks.all([t(1)]);
  await tasks.outlines([t(1)]);
  await tasks.failed(target, 9);
  const failed = (await tasks.get(t(1))) as Task;
  for (const _ of ['done', 'refused']) await tasks.redrive([failed], NOW);

  const [operation, slot] = [operationName(`op-${target.length}`), slotOf(target, 1, 1)];
  const pause = { id: 'p', by: 'circuit', since: NOW } as const;
  for (const _ of ['done', 'refused']) {
    await operations.takeSlot(operation, slot, 1);
    await operations.freeSlot(operation, slot);
    await operations.enqueue(operation, { target, at: NOW, fence: 1 });
    await operations.waiting(operation, 9);
    await operations.dequeue(operation, { target, at: NOW, fence: 1 });
    await operations.pause(operation, pause);
    await operations.resume(operation, pause.id);
    await operations.addFailure(operation);
    await operations.resetFailures(operation);
    await operations.reserveCall(operation, 0, NOW);
    await operations.read(operation);
  }

  await waiting.put([{ ...task, run: 1 }]);
  const [row] = await waiting.first(target, 9);
  await waiting.has(target, row?.entry ?? '');
  await waiting.page(target, 9);
  await waiting.count(target, 9);
  await locks.glance(target);
  await waiting.remove(target, [row?.entry ?? '']);

  const [mine, next] = [
    { fence: 2, token: token('a') },
    { fence: 3, token: token('b') },
  ];
  for (const _ of ['done', 'refused']) {
    await locks.enlist([target], NOW);
    await locks.burn(target, 1, 0, NOW);
    await locks.acquire(target, { ...mine, seen: { fence: 1 }, now: NOW, until: NOW + 1 });
    await locks.handOver(target, mine, { token: next.token, seen: { fence: 2 }, now: NOW, until: NOW + 1 });
    await locks.openBatch(target, next, { batch, round: 1, by: token('turn'), until: NOW + 1 });
    await locks.closeBatch(target, batch);
    await locks.land(target, batch);
    await locks.block(target, next, { round: 1, at: NOW });
    await locks.pause(target, { id: 'p', by: 'person', since: NOW }, NOW);
    await locks.resume(target, 'p');
    await locks.release(target, next);
    await locks.flush(target, NOW);
  }
  await locks.read(target);
  await locks.readAll([target]);
  await locks.targets(operationName('ship'), 9);

  for (const _ of ['done', 'refused']) {
    const candidates = [candidate(t(1))];
    const formed = { id: batch, target, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW } as const;
    await batches.seal(await batches.form(formed), [], NOW, 1_000);
    await batches.start(batch, aStart(1, NOW, NOW));
    await batches.postpone(batch, 1, aPostponed(NOW));
    const counts = { succeeded: 0, failed: 1 };
    await batches.finish(batch, 1, { status: 'failed', counts, at: NOW, keep: 1_000 });
  }
  await batches.get(batch);
  await batches.ofTarget(target, 9);

  await patrolMarks.write({ operation: operationName('ship'), seen: 1, lastRound: 1 });
  await patrolMarks.read();
  await recovery.voidLeases();
  await recovery.voidAttempts();
};

it('reads what it decides on strongly consistent, and what is only shown or counted eventually so', async () => {
  const { ports, seen } = watched();
  await callAll(ports);
  const asSeen = Object.entries(PROMISED).map(([port, calls]) => [
    port,
    Object.fromEntries(Object.keys(calls).map((call) => [call, seen[port]?.[call]?.join(' and ') || 'none'])),
  ]);
  expect(Object.fromEntries(asSeen)).toEqual(PROMISED);
  // A call that was not made would look like one that reads nothing.
  const called = Object.values(seen).flatMap((calls) => Object.keys(calls));
  expect(called.toSorted()).toEqual(Object.values(PROMISED).flatMap(Object.keys).toSorted());
});
