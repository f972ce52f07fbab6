import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newBatchRow } from '../../src/rows/batch-rows.ts';
import type { Item } from '../../src/rows/item.ts';
import { itemSize, writeUnits } from '../../src/rows/item-size.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { batchId, candidate, NOW, target } from '../factories/factories.ts';

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());

/** The write units that the engine charges for a row. */
const charged = async (row: Item): Promise<number> => {
  const put = new PutCommand({ TableName: resources.tables.task, Item: row, ReturnConsumedCapacity: 'TOTAL' });
  return (await resources.clients.dynamodb.send(put)).ConsumedCapacity?.CapacityUnits ?? 0;
};

it("the simulation charges the engine's units for a row", async () => {
  const value = fc.oneof(
    fc.string({ maxLength: 700, unit: 'grapheme' }),
    fc.array(fc.string({ maxLength: 40 }), { maxLength: 30 }),
    fc.boolean(),
  );
  const row = fc.dictionary(fc.stringMatching(/^[A-Z][a-z]{0,12}$/), value, { maxKeys: 8 });
  await fc.assert(
    fc.asyncProperty(row, async (fields) => {
      const { Id: _, ...rest } = fields;
      const item: Item = { ...rest, Id: 'a-task' };
      expect(await charged(item)).toBe(writeUnits(itemSize(item)));
    }),
    { numRuns: 60 },
  );
});

it("the simulation charges the engine's units for a batch of up to 100 tasks", async () => {
  for (const size of [1, 25, 30, 50, 99, 100]) {
    const batch = newBatchRow({
      id: batchId('ship/depot=MUC#1#1'),
      target: target('ship/depot=MUC'),
      sealedBy: 'full',
      candidates: Array.from({ length: size }, (_, n) =>
        candidate(`01JD2Y0FQZ4XB8R5MTWV7KQ${String(n).padStart(3, '0')}`),
      ),
      oldestAt: NOW,
      createdAt: NOW,
    });
    const item: Item = { ...batch, Id: 'a-batch' };
    expect(await charged(item)).toBe(writeUnits(itemSize(item)));
  }
});
