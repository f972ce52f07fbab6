import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { sentItemId } from '../../src/domain/fan-outs/item-token.ts';
import { MESSAGES_AT_ONCE } from '../../src/domain/timings.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from './flow.ts';

const [TASKS, SIZE, GROUP] = [400, 100, 450];
const FAN_OUT = fanOutId('burst') as FanOutId;

let flow: LocalFlow;
beforeAll(async () => {
  flow = await startLocalFlow({ batch: { maxSize: SIZE, maxWait: '10s' } });
});
afterAll(() => flow.stop());

it('a batch of 100 tasks acks its fan-out items of one group with one write unit', async () => {
  const { clients, settings } = flow.backend;
  const fanOuts = dynamoDBFanOuts(clients.dynamodb, setting(settings, 'fanOutTable'));
  await fanOuts.open({ id: FAN_OUT, createdAt: Date.now(), itemKey: 'key' }, Date.now() + 600_000);
  await fanOuts.putGroups(FAN_OUT, [{ n: 0, size: GROUP }], Date.now());
  /** Without the sweep's query for due fan-outs, which runs each minute. */
  const ofFanOuts = (units: ReadonlyMap<string, number>): number =>
    [...units].reduce((sum, [what, count]) => sum + (/FanOut (?!Query)/.test(what) ? count : 0), 0);
  const [written, read] = [ofFanOuts(flow.bill.writeUnits), ofFanOuts(flow.bill.readUnits)];
  const ids = await flow.send(
    Array.from({ length: TASKS }, (_, index) => ({
      operation: 'ship',
      payload: { depot: 'burst', index },
      fanOutItem: sentItemId('key', { fanOut: FAN_OUT, group: 0, index }),
    })),
  );
  await flow.settled(ids);
  const finished = () => flow.events.filter(({ event }) => event === 'finished').length;
  const batches = await eventually(() => {
    const called = new Set(flow.downstream.calls.map(({ batchId }) => batchId)).size;
    return finished() === called ? called : undefined;
  });
  expect((await fanOuts.node(FAN_OUT, { level: 0, n: 0 }))?.left).toBe(GROUP - TASKS);
  expect(batches).toBeGreaterThanOrEqual(TASKS / SIZE);
  expect(ofFanOuts(flow.bill.writeUnits) - written).toBe(batches);
  console.log(`${TASKS} items in ${batches} batches: ${batches / TASKS} write units an item`);
  // Invocations that began before one had remembered the key of the items' tokens read it too.
  const invocations = TASKS / MESSAGES_AT_ONCE.register;
  expect(ofFanOuts(flow.bill.readUnits)).toBeGreaterThan(read);
  expect(ofFanOuts(flow.bill.readUnits)).toBeLessThanOrEqual(read + invocations);
});
