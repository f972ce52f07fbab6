/** The cost of a slot in DynamoDB's units, with few and with hundreds of slots taken. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OperationName } from '../../src/domain/ids.ts';
import { PAGE_SIZE } from '../../src/domain/operations/slot-pages.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { freeOperationSlot, takeOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aConfig, operationName, target } from '../factories/factories.ts';
import { dynamoDBStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

interface Capacity {
  readonly CapacityUnits?: number;
}

let resources: Resources;
const spent = { writes: 0, reads: 0 };
beforeAll(async () => {
  resources = await makeResources();
  resources.clients.dynamodb.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } }).catch(
          (cause) => {
            refused += 1;
            throw cause;
          },
        );
        const { ConsumedCapacity = [] } = answer.output as { ConsumedCapacity?: Capacity | Capacity[] };
        const kind = commandName === 'QueryCommand' || commandName === 'GetItemCommand' ? 'reads' : 'writes';
        for (const { CapacityUnits = 0 } of [ConsumedCapacity].flat()) spent[kind] += CapacityUnits;
        return answer;
      },
    { step: 'initialize', priority: 'low', name: 'spent' },
  );
});
afterAll(() => resources.stop());

/** Writes that fail their condition, for which DynamoDB charges too. */
let refused = 0;

/** A write unit costs as much as five read units of either kind (us-east-1, on demand). */
const READS_OF_A_WRITE = 5;
/** The write units of a full batch of 25 small tasks, without its slot (test/local/burst.test.ts). */
const WRITES_OF_A_BATCH = 25 * 5;

/** An operation of its own with a cap. */
const cappedAt = (name: OperationName, cap: number) => {
  const base = aConfig();
  const ship = Object.values(base.operations)[0];
  if (!ship) throw new Error('the factory makes an operation');
  const operation = { ...ship, name, concurrency: { perTarget: null, total: cap } };
  return stepKit(dynamoDBStores(resources), { ...base, operations: { [name]: operation } });
};

/** Takes and frees the last slot of a cap. All other slots are taken. @param bytes length of each Target */
const lastSlotOf = async (cap: number, bytes: number) => {
  const name = operationName(`ship-${cap}-${bytes}`);
  const deps = cappedAt(name, cap);
  const { operations } = deps;
  const targetOf = (n: number) => target(`${name}/depot=${n}`.padEnd(bytes, '-'));
  if (cap > PAGE_SIZE) await operations.noteCap(name, cap);
  // The last page has one free slot.
  for (let page = 0; page < cap / PAGE_SIZE; page += 1)
    await Promise.all(
      Array.from({ length: page === cap / PAGE_SIZE - 1 ? PAGE_SIZE - 1 : PAGE_SIZE }, (_, n) =>
        operations.takeSlot(name, slotOf(targetOf(page * PAGE_SIZE + n), 1, 1), PAGE_SIZE, page),
      ),
    );
  const before = { ...spent };
  const slot = slotOf(targetOf(cap), 1, 1);
  const page = await takeOperationSlot(deps, targetOf(cap), slot);
  expect(page).toBeDefined();
  expect(await freeOperationSlot(deps, name, slot, page)).toBe(true);
  return { writes: spent.writes - before.writes, reads: spent.reads - before.reads };
};

it.each([30, 250, 512])(
  'a batch with Targets of %d bytes costs at most a tenth more at 1,000 slots than at 10',
  async (bytes) => {
    const [ten, hundred, thousand] = [
      await lastSlotOf(10, bytes),
      await lastSlotOf(100, bytes),
      await lastSlotOf(1_000, bytes),
    ];
    for (const many of [hundred, thousand]) expect(many.writes).toBeLessThanOrEqual(ten.writes * 1.1);
    const inAll = ({ writes, reads }: typeof ten) => WRITES_OF_A_BATCH + writes + reads / READS_OF_A_WRITE;
    expect(inAll(thousand)).toBeLessThanOrEqual(inAll(ten) * 1.1);
  },
);

it('after a cap is lowered to one page, a process has only its first write refused', async () => {
  const name = operationName('ship-lowered');
  const deps = cappedAt(name, 5);
  await deps.operations.noteCap(name, 300);
  refused = 0;
  for (let n = 0; n < 5; n += 1) {
    const where = target(`${name}/depot=${n}`);
    const slot = slotOf(where, 1, 1);
    const page = await takeOperationSlot(deps, where, slot);
    expect(page).toBe(0);
    expect(await freeOperationSlot(deps, name, slot, page)).toBe(true);
    expect(refused).toBe(1);
  }
});
