/**
 * The cost of reading a batch's members (H3): an eventually consistent read costs half of a strongly consistent one.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask, candidate } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';

let resources: Resources;
const bill = newBill();
let tasks: Tasks;
beforeAll(async () => {
  resources = await makeResources();
  tasks = dynamoDBTasks(metered(resources.clients, bill).dynamodb, resources.tables.task);
});
afterAll(() => resources.stop());

it('an eventually consistent read of members and payloads costs half of a strong one (H3)', async () => {
  const { t, batch, target } = fresh();
  const payloads = ['{}', `{"s":"${'x'.repeat(2_000)}"}`];
  const made = payloads.map((payload, n) => aTask({ id: t(n), target, payload }));
  await tasks.insert(made);
  await tasks.storePayloads(made.slice(1).map((task) => ({ ...task, run: 1 })));
  const ids = made.map(({ id }) => id);
  await tasks.claim(
    ids.map((id) => candidate(id)),
    batch,
  );
  const before = total(bill.readUnits);
  // A recent write may be missing from the result. The read is charged all the same.
  await tasks.readEventually(ids, batch);
  const between = total(bill.readUnits);
  expect((await tasks.members(ids, batch)).open.map(({ payload }) => payload)).toEqual(payloads);
  expect([between - before, total(bill.readUnits) - between]).toEqual([1.5, 3]);
});
