/** Writes of deferred lists that meet a transaction: the engines in these tests do not refuse them. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { claimId, type ListId, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { append } from '../../src/steps/lists/append.ts';
import { claimJobs } from '../../src/steps/lists/claim.ts';
import { takeJobs } from '../../src/steps/lists/trigger.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { NOW, token } from '../factories/factories.ts';
import { dynamoDBStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { atOnce, cancelled, HELD, PLAIN_WRITES, refused, TRANSACTIONS, taken } from './refused.ts';

let resources: Resources;
beforeAll(async () => {
  resources = await makeResources();
});
afterAll(() => resources.stop());
afterEach(() => taken(resources.clients));

const kit = () => stepKit(dynamoDBStores(resources));
const opened = async (name: string): Promise<ListId> => {
  const id = listId(name) as ListId;
  await kit().lists.open({ id: trackerOf(id), createdAt: NOW, operation: 'ship' }, NOW + 120_000);
  expect(await append(kit(), id, ['{"n":0}', '{"n":1}', '{"n":2}'], token('all'))).toMatchObject({ total: 3 });
  return id;
};

it("a list in another caller's transaction is claimed and released a moment later", async () => {
  const id = await opened('beside');
  const claim = claimId('w');
  if (!claim) throw new Error('that is an id');
  const { left } = refused(resources.clients, PLAIN_WRITES, 2, HELD);
  expect(await claimJobs(kit(), id, { claim, count: 2, lease: 60_000 })).toMatchObject({ kind: 'claimed' });
  expect(left()).toBe(0);
  const [lease] = (await kit().lists.read(id))?.leases ?? [];
  if (!lease) throw new Error('it is not there');
  refused(resources.clients, PLAIN_WRITES, 2, HELD);
  expect(await kit().lists.change(id, { from: [lease], to: [], gone: [] })).toBe(true);
  expect(await kit().lists.read(id)).toMatchObject({ head: 2, leases: [] });
});

it('an addition that meets its own publication returns the published result', async () => {
  const id = await opened('twice');
  const { left } = refused(resources.clients, PLAIN_WRITES, 2, HELD);
  expect(await append(kit(), id, ['{}'], token('again'))).toMatchObject({ first: 3, total: 4 });
  expect(left()).toBe(0);
});

it('jobs that were added one by one are read concurrently', async () => {
  const id = listId('singles') as ListId;
  await kit().lists.open({ id: trackerOf(id), createdAt: NOW, operation: 'ship' }, NOW + 120_000);
  for (let n = 0; n < 40; n += 1) await append(kit(), id, [`{"n":${n}}`], token(`one-${n}`));
  const { most } = atOnce(resources.clients, /^QueryCommand$/);
  const jobs = await kit().lists.jobs(id, [{ first: 0, count: 40 }]);
  expect(jobs).toEqual(Array.from({ length: 40 }, (_, n) => ({ token: n, payload: `{"n":${n}}` })));
  expect(most()).toBeGreaterThan(4);
});

it('an addition or trigger whose transaction is cancelled is retried; a malformed one throws', async () => {
  const id = await opened('cancelled');
  for (const [n, code] of ['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict'].entries()) {
    const added = refused(resources.clients, TRANSACTIONS, 2, cancelled(code));
    expect(await append(kit(), id, ['{}'], token(code))).toMatchObject({ first: 3 + n, total: 4 + n });
    expect(added.left()).toBe(0);
    refused(resources.clients, TRANSACTIONS, 2, cancelled(code));
    const taken = await takeJobs(kit(), { list: id, token: token(code), count: 1 });
    expect(taken).toEqual({ ranges: [{ first: n, count: 1 }], started: 0 });
  }
  refused(resources.clients, TRANSACTIONS, 1, cancelled('ValidationError'));
  await expect(takeJobs(kit(), { list: id, token: token('t'), count: 1 })).rejects.toThrow('ValidationError');
  expect(await kit().lists.read(id)).toMatchObject({ total: 6, head: 3 });
});
