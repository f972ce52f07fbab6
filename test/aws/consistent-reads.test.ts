/** All reads are strongly consistent, except for those that the ports (src/ports) call eventually consistent. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBPatrolMarks } from '../../src/aws/dynamodb-waiting.ts';
import { voidAttempts, voidLeases } from '../../src/aws/recovery.ts';
import type { NodeSize } from '../../src/domain/fan-outs/tree.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { dynamoDBStores } from '../ports/stores.ts';
import { callAll, type Ports } from './every-call.ts';

type Reads = 'strong' | 'eventual' | 'none';

/** Every call of a port has to be listed here. */
const PROMISED: {
  readonly [Port in keyof Ports]: Readonly<
    Record<Exclude<keyof Ports[Port], keyof NodeSize | 'pageSize' | 'claimsMax' | 'now'>, Reads>
  >;
} = {
  tasks: {
    insert: 'strong',
    storePayloads: 'none',
    claim: 'strong',
    redrive: 'strong',
    members: 'strong',
    readEventually: 'eventual',
    finish: 'strong',
    touch: 'none',
    get: 'strong',
    all: 'strong',
    settle: 'strong',
    outlines: 'strong',
    payload: 'strong',
    failed: 'eventual',
    failedAnywhere: 'eventual',
    failures: 'eventual',
  },
  waiting: { put: 'none', first: 'strong', has: 'strong', page: 'eventual', remove: 'none', count: 'eventual' },
  locks: {
    read: 'strong',
    readAll: 'strong',
    enlist: 'none',
    readEventually: 'eventual',
    acquire: 'none',
    release: 'none',
    handOver: 'none',
    openBatch: 'none',
    extend: 'none',
    closeBatch: 'none',
    count: 'none',
    counted: 'none',
    noteCall: 'none',
    block: 'none',
    blockUnled: 'none',
    releaseSlot: 'none',
    pause: 'none',
    resume: 'none',
    keep: 'none',
    skipFence: 'none',
    flush: 'strong',
    targets: 'eventual',
    slotPages: 'strong',
    slotPagesEventually: 'eventual',
    slotPage: 'strong',
    takeSlot: 'none',
    freeSlot: 'none',
    dropPages: 'none',
    everyTarget: 'eventual',
  },
  operations: {
    read: 'strong',
    slotPages: 'strong',
    slotPagesEventually: 'eventual',
    slotPage: 'strong',
    isWaiting: 'strong',
    takeSlot: 'none',
    takeOnlyPage: 'none',
    noteCap: 'none',
    freeSlot: 'none',
    enqueue: 'none',
    waiting: 'strong',
    dequeue: 'none',
    pause: 'none',
    resume: 'none',
    addFailure: 'none',
    markThrottled: 'none',
    resetFailures: 'none',
    noteAnswers: 'none',
    markWaking: 'none',
  },
  buckets: { list: 'eventual', read: 'strong', write: 'none', enqueue: 'none', waiting: 'strong' },
  batches: {
    form: 'strong',
    get: 'strong',
    seal: 'strong',
    start: 'none',
    hold: 'none',
    postpone: 'none',
    place: 'none',
    finish: 'none',
    ofTarget: 'eventual',
    underWay: 'eventual',
  },
  fanOuts: {
    itemKeys: 'strong',
    open: 'strong',
    read: 'strong',
    reservation: 'strong',
    reserve: 'none',
    putGroups: 'none',
    node: 'strong',
    counts: 'strong',
    ack: 'none',
    putNode: 'none',
    seal: 'strong',
    noteFails: 'strong',
    beginSum: 'none',
    correct: 'none',
    noteCorrection: 'none',
    forgetFails: 'none',
    noteFailedGroup: 'none',
    note: 'strong',
    noticeSent: 'none',
    end: 'none',
    forgetEvent: 'none',
    due: 'eventual',
    page: 'eventual',
    checkAgain: 'none',
    removeNodes: 'none',
    bury: 'none',
  },
  lists: {
    open: 'strong',
    read: 'strong',
    page: 'eventual',
    append: 'strong',
    beginAppend: 'none',
    putJobs: 'none',
    publish: 'none',
    jobs: 'strong',
    leaseFresh: 'none',
    change: 'none',
    claimApart: 'strong',
    claimsApart: 'strong',
    putApart: 'none',
    changeApart: 'none',
    gather: 'none',
    trigger: 'strong',
    take: 'none',
    noteAmount: 'none',
    goOn: 'none',
    putResults: 'strong',
    results: 'strong',
    clear: 'strong',
  },
  fleets: {
    join: 'strong',
    beat: 'none',
    read: 'strong',
    open: 'none',
    checkpointOf: 'strong',
    separate: 'none',
    evict: 'none',
    take: 'none',
    ask: 'none',
    decline: 'none',
    handOver: 'none',
    checkpoint: 'none',
    leave: 'none',
    names: 'strong',
    drain: 'none',
    pin: 'none',
  },
  processed: { known: 'strong', remember: 'none' },
  patrolMarks: { read: 'strong', write: 'none' },
  recovery: { voidLeases: 'strong', voidAttempts: 'strong' },
};

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());

/** The consistency of each read in a request, one for each table; empty if the request does not read. */
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

/** The ports, and the consistency of the reads that each of their calls has made. */
const watched = () => {
  const { clients, tables } = resources;
  const { tasks, waiting, locks, batches, operations, buckets, fanOuts, lists, fleets, processed } =
    dynamoDBStores(resources);
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
  /** Calls run one at a time, so that each read belongs to a known call. */
  const watch = <Port extends object>(name: string, port: Port): Port => {
    const calls: Record<string, Reads[]> = {};
    seen[name] = calls;
    return Object.fromEntries(
      Object.entries(port).map(([call, run]: [string, unknown]) => [
        call,
        typeof run !== 'function'
          ? run
          : async (...args: unknown[]) => {
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
    buckets: watch('buckets', buckets),
    fanOuts: watch('fanOuts', fanOuts),
    lists: watch('lists', lists),
    fleets: watch('fleets', fleets),
    processed: watch('processed', processed),
    patrolMarks: watch('patrolMarks', dynamoDBPatrolMarks(clients.dynamodb, tables.batchLock)),
    recovery: watch('recovery', {
      voidLeases: () => voidLeases(clients.dynamodb, tables.batchLock),
      voidAttempts: () => voidAttempts(clients.dynamodb, tables.batch),
    }),
  };
  return { ports, seen };
};

it('the stores read strongly consistently, except where a port allows eventual consistency', async () => {
  const { ports, seen } = watched();
  await callAll(ports);
  const asSeen = Object.entries(PROMISED).map(([port, calls]) => [
    port,
    Object.fromEntries(Object.keys(calls).map((call) => [call, seen[port]?.[call]?.join(' and ') || 'none'])),
  ]);
  expect(Object.fromEntries(asSeen)).toEqual(PROMISED);
  // A call that was not made would look like a call that does not read.
  const called = Object.values(seen).flatMap((calls) => Object.keys(calls));
  expect(called.toSorted()).toEqual(Object.values(PROMISED).flatMap(Object.keys).toSorted());
});
