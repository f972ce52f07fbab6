/** An ack costs one write unit for a full group's row (T1), even with the longest id and the highest group number. */
import { expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { fanOutId, itemIdOf, parseItemId } from '../../src/domain/fan-out-ids.ts';
import { makeResources } from '../backends/resources.ts';

it('an ack costs one write unit, even with the longest id and highest group (T1)', async () => {
  const resources = await makeResources();
  try {
    const id = fanOutId('f'.repeat(64));
    if (!id) throw new Error('that is an id');
    const n = 999_999_999;
    expect(parseItemId(itemIdOf({ fanOut: id, group: n, index: 449 }))).toEqual({ fanOut: id, group: n, index: 449 });
    const bill = newBill();
    const store = dynamoDBFanOuts(metered(resources.clients, bill).dynamodb, resources.tables.fanOut);
    const { width, acksAtOnce } = store;
    await store.putGroups(id, [{ n, size: width }], Date.now());
    let spent = total(bill.writeUnits);
    for (let from = 0; from < width; from += acksAtOnce) {
      const slots = new Map(Array.from({ length: acksAtOnce }, (_, index) => [from + index, index % 2 === 0]));
      const acked = await store.ack(id, { level: 0, n }, { slots, failed: acksAtOnce / 2, at: Date.now() });
      expect(acked.isWritten).toBe(true);
      expect(total(bill.writeUnits) - spent).toBe(1);
      spent = total(bill.writeUnits);
    }
    const left = (await store.node(id, { level: 0, n }))?.left;
    expect(left).toBe(0);
  } finally {
    await resources.stop();
  }
});
