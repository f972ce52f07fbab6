/**
 * `npm run bench:fan-out -- --items 1000000 --consumers 64 --at-once 1,10,100` runs a fan-out on the embedded engine.
 * Concurrent consumers ack its items in random order, some of them twice. It prints the cost per item.
 *
 * Costs are the consumed capacity that each answer states, as DynamoDB bills it. It exits with an error if the counts
 * are not exact.
 */
import { strict as assert } from 'node:assert';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dynamoDBFanOuts } from '../src/aws/dynamodb-fan-outs.ts';
import type { CallbackMessage } from '../src/domain/callbacks/callback.ts';
import { parseConfig } from '../src/domain/config/schema/config.ts';
import type { FlowEvent } from '../src/domain/events/events.ts';
import { type FanOutId, fanOutId, type Item } from '../src/domain/fan-out-ids.ts';
import { FULL_SIZE } from '../src/domain/fan-outs/tree.ts';
import type { Token } from '../src/domain/ids.ts';
import type { FanOuts } from '../src/ports/fan-outs.ts';
import { within } from '../src/ports/machine.ts';
import type { FanOutDeps } from '../src/steps/deps.ts';
import { ackItems } from '../src/steps/fan-outs/ack-items.ts';
import { addItems } from '../src/steps/fan-outs/add-items.ts';
import { seal } from '../src/steps/fan-outs/complete.ts';
import { type ItemsPage, itemsWith, type Place } from '../src/steps/fan-outs/items.ts';
import { progressOf } from '../src/steps/fan-outs/progress.ts';
import { seeded } from '../src/virtual/random.ts';
import { synthesise } from '../tools/local/assembly.ts';
import { localClients } from '../tools/local/clients.ts';
import { startEngines } from '../tools/local/engines.ts';
import { createTables } from '../tools/local/resources.ts';
import { CloudAssembly } from '../tools/local/template.ts';
import { add, metered, newBill, total } from './meter.ts';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    consumers: { type: 'string', default: '64' },
    'at-once': { type: 'string', default: '1,10,100' },
    duplicates: { type: 'string', default: '0.1' },
    seed: { type: 'string', default: '42' },
  },
});
const [items, consumers, duplicates] = [values.items, values.consumers, values.duplicates].map(Number) as [
  number,
  number,
  number,
];
/** The most items that one `add` takes: 100 groups. */
const ADD = 45_000;
/** One of this many items fails. */
const FAILS = 1_000;
const isToFail = ({ group, index }: Item): boolean => (group * FULL_SIZE.width + index) % FAILS === 7;

const parsed = parseConfig({
  operations: { ship: { target: [], downstream: { kind: 'http', url: 'http://127.0.0.1:9/' } } },
  destinations: { ops: { kind: 'queue', name: 'ops' } },
  fanOuts: { callback: 'ops' },
});
assert(parsed.ok);
const config = parsed.value;
const engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
const endpoints = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
const assembly = new CloudAssembly(synthesise(config), endpoints);
await createTables(assembly, localClients(endpoints).dynamodb);
const table = assembly.all('AWS::DynamoDB::Table').find(({ name }) => name.endsWith('FanOut'))?.name ?? '';

/** Counts the writes of each key, and the refused writes, because the engine does not state the cost of a refusal. */
const counted = (store: FanOuts, writes: Map<string, number>, onRefusal: () => void): FanOuts => ({
  ...store,
  ack: async (id, position, slots) => {
    const key = `${position.level}.${position.n}`;
    writes.set(key, (writes.get(key) ?? 0) + 1);
    const acked = await store.ack(id, position, slots);
    if (!acked.isWritten) onRefusal();
    return acked;
  },
});

/** All items in parts of `atOnce`, in random order. Some parts occur a second time, at a random place. */
const partsOf = (all: readonly Item[], atOnce: number): Item[][] => {
  const random = seeded(Number(values.seed) + atOnce);
  const parts = Array.from({ length: Math.ceil(all.length / atOnce) }, (_, n) =>
    all.slice(n * atOnce, (n + 1) * atOnce),
  );
  const twice = parts.filter(() => random.chance(duplicates));
  const order = [...parts, ...twice];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = random.int(0, last);
    [order[last], order[other]] = [order[other] as Item[], order[last] as Item[]];
  }
  return order;
};

const run = async (atOnce: number) => {
  const bill = newBill();
  const writes = new Map<string, number>();
  const events: FlowEvent[] = [];
  const told: CallbackMessage[] = [];
  // Many requests at once on few processors may take seconds, so the clients have no timeout.
  const store = dynamoDBFanOuts(metered(localClients({ ...endpoints, patient: true }), bill).dynamodb, table);
  const deps: FanOutDeps = {
    config,
    // A refused write of a row of up to 1 KB is charged as one unit.
    fanOuts: counted(store, writes, () => add(bill.writeUnits, 'refused acks')),
    queues: { callbacks: async (messages) => void told.push(...messages) },
    machine: {
      now: Date.now,
      sleep: async (span) => setTimeout(span),
      within,
      random: Math.random,
      token: () => 'none' as Token,
    },
    report: (event) => void events.push(event),
  };
  const id = fanOutId(`bench-${atOnce}`) as FanOutId;
  await store.open({ id, createdAt: Date.now() }, Date.now() + 3_600_000);
  const all: Item[] = [];
  for (let from = 0; from < items; from += ADD) {
    const added = await addItems(deps, id, Math.min(ADD, items - from), `add-${from}` as Token);
    assert(added.kind === 'added');
    for (const { n, size } of added.groups)
      for (let index = 0; index < size; index += 1) all.push({ fanOut: id, group: n, index });
  }
  const adding = total(bill.writeUnits);
  assert.equal((await seal(deps, id)).kind, 'sealed');
  const parts = partsOf(all, atOnce);
  const from = performance.now();
  let [next, completes] = [0, 0];
  const consume = async (): Promise<void> => {
    for (let part = parts[next++]; part; part = parts[next++]) {
      const acks = part.map((item) => ({
        item,
        outcome: isToFail(item) ? ('failed' as const) : ('succeeded' as const),
      }));
      const { fanOuts, unknown } = await ackItems(deps, acks);
      assert.equal(unknown.length, 0);
      if (fanOuts.some(({ complete }) => complete)) completes += 1;
    }
  };
  await Promise.all(Array.from({ length: consumers }, consume));
  const seconds = (performance.now() - from) / 1_000;

  const [writeUnits, readUnits] = [total(bill.writeUnits) / items, total(bill.readUnits) / items];
  const failed = all.filter(isToFail).length;
  const fanOut = await store.read(id);
  assert(fanOut);
  assert.deepEqual(await progressOf(store, fanOut), { succeeded: items - failed, failed, pending: 0 });
  let listed = 0;
  for (let from: Place | undefined = { group: 0, index: 0 }; from; ) {
    const { places, next }: ItemsPage = await itemsWith(store, fanOut, 'failed', from, 10_000);
    listed += places.length;
    from = next;
  }
  assert.equal(listed, failed);
  const ends = events.filter(({ event }) => event === 'fan-out-ended').length;
  assert.equal(ends, 1);
  assert.equal(new Set(told.map(({ event }) => event)).size, 1);
  return {
    atOnce,
    items,
    calls: parts.length,
    stateChanges: ends,
    eventsSent: told.length,
    callsThatSawItComplete: completes,
    failed,
    writeUnitsPerItem: Number(writeUnits.toFixed(4)),
    ofThemForAdding: Number((adding / items).toFixed(4)),
    readUnitsPerItem: Number(readUnits.toFixed(4)),
    keysWritten: writes.size,
    mostWritesOfOneKey: Math.max(...writes.values()),
    itemsPerSecond: Math.round(items / seconds),
  };
};

try {
  for (const atOnce of values['at-once'].split(',').map(Number))
    console.log(JSON.stringify(await run(atOnce), null, 2));
} finally {
  await engines.stop();
}
