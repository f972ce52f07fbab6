/** This release continues on the data folder of a killed earlier release (docs/how-to/upgrade.md). */
import { setTimeout } from 'node:timers/promises';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { groupage } from '../cli/groupage.ts';
import { eventually } from '../end-to-end/flow.ts';
import { DELETED, TOLD } from './config.ts';
import { type FleetSeen, itemsOf, releases } from './fixture.ts';
import { FLOOD } from './flood.ts';
import { TODAY, type Upgraded, upgrade } from './kit.ts';
import { startWorker } from './release.ts';
import { eventsIn, hasDynoxide, takeAll } from './seen.ts';

/** A row version that no release has. */
const LATER = 99;

// The fixture's tables need dynoxide, which runs on Linux only.
describe.skipIf(!hasDynoxide() && !NOTHING_MAY_BE_MISSING).each(releases())('a data folder of %s', (release) => {
  let kit: Upgraded;
  beforeAll(async () => {
    kit = await upgrade(release, 'removed');
  });
  afterAll(() => kit?.stop());

  it('keeps work under way, and each task is done once', async () => {
    await kit.ended(FLOOD);
    for (const id of FLOOD) expect(new Set(kit.batchesWith(id)).size, id).toBeLessThanOrEqual(1);
    expect((await kit.task('h-1')).batchId).toBe('hanging/depot=MUC#1#1');
    expect(kit.batchesWith('h-1')).toEqual(['hanging/depot=MUC#1#1']);
  });

  it('keeps waiting tasks, and they are done once when they are due', async () => {
    expect(await kit.task('w-plain')).toMatchObject({ status: 'created', waitsFor: { reason: 'batch-to-fill' } });
    await kit.flush('waiting/depot=MUC');
    const ids = ['w-plain', 'w-urgent', 'w-newer', 'w-heavy', 'w-large', 'w-told', 'w-item'];
    await kit.ended(ids);
    const calls = kit.calls.filter(({ target }) => target === 'waiting/depot=MUC');
    expect(calls.map(({ items }) => items.map(({ id }) => id))).toEqual([
      ['w-urgent', ...(calls[0]?.items.slice(1).map(({ id }) => id) ?? [])],
    ]);
    expect(calls[0]?.items.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(calls[0]?.items.find(({ id }) => id === 'w-large')?.payload.text).toBe('x'.repeat(60_000));
    expect(await kit.task('w-older')).toMatchObject({ status: 'succeeded', supersededBy: 'w-newer' });
    expect(await kit.task('w-cancelled')).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  it('keeps the id and attempts of a batch under retry', async () => {
    await kit.ended(['r-1', 'r-2']);
    const [call] = kit.calls.filter(({ operation }) => operation === 'retried');
    expect(call?.batchId).toBe(kit.left.retried.id);
    expect(call?.attempt).toBeGreaterThan(kit.left.retried.attempt);
    expect(kit.batchesWith('r-1')).toEqual([kit.left.retried.id]);
    expect(call?.items.find(({ id }) => id === 'r-2')?.payload.text).toBe('x'.repeat(60_000));
  });

  it('lets a job report its earlier batch, without a second call', async () => {
    expect(await kit.task('j-1')).toMatchObject({ status: 'in-progress', waitsFor: { reason: 'job' } });
    await kit.running.ask(`/batches/${encodeURIComponent(kit.left.job.id)}/complete`, {});
    await kit.ended(['j-1', 'j-2']);
    expect(kit.calls.filter(({ operation }) => operation === 'job')).toEqual([]);
  });

  it('keeps a cap, and waiting Targets get the slot one by one', async () => {
    expect(await kit.running.ask('/operations/capped')).toMatchObject({
      waitingTargets: 2,
      batches: [kit.left.holding.id],
    });
    let holding = kit.left.holding.id;
    for (let more = 2; more > 0; more -= 1) {
      await kit.running.ask(`/batches/${encodeURIComponent(holding)}/complete`, {});
      holding = await eventually(async () => {
        const { batches } = await kit.running.ask<{ batches: string[] }>('/operations/capped');
        expect(batches.length).toBeLessThanOrEqual(1);
        return batches.find((id) => id !== holding);
      });
      const isAsked = () => kit.calls.some(({ batchId }) => batchId === holding);
      await eventually(isAsked);
      await eventually(async () => (await kit.running.ask(`/batches/${encodeURIComponent(holding)}`)).pending === 1);
    }
    await kit.running.ask(`/batches/${encodeURIComponent(holding)}/complete`, {});
    await kit.ended(['cap-A', 'cap-B', 'cap-C']);
  });

  it('keeps an operation paused until an operator resumes it', async () => {
    const paused = { by: 'person', reason: 'before the upgrade' };
    expect(await kit.running.ask('/operations/paused')).toMatchObject({ paused });
    expect(await kit.task('p-1')).toMatchObject({ status: 'created', waitsFor: { reason: 'operation-paused' } });
    await kit.running.ask('/operations/paused/resume', {});
    await kit.ended(['p-1', 'p-2']);
  });

  it('keeps a circuit open until an operator resumes it', async () => {
    expect(await kit.running.ask('/operations/circuit')).toMatchObject({ circuit: 'open' });
    await kit.running.ask('/operations/circuit/resume', {});
    await eventually(async () => (await kit.running.ask('/operations/circuit')).circuit !== 'open');
  });

  it('keeps failed tasks, which are redriven with their payloads', async () => {
    const ids = ['f-1', 'f-2', 'f-3'];
    for (const found of await kit.ended(ids, 'failed'))
      expect(found).toMatchObject({ error: { code: 'broken' }, run: 1 });
    expect(await kit.running.ask('/tasks/redrive', { target: 'failing/depot=MUC' })).toMatchObject({ redriven: 3 });
    for (const found of await kit.ended(ids)) expect(found).toMatchObject({ run: 2 });
    const large = kit.calls.flatMap(({ items }) => items).filter(({ id }) => id === 'f-2');
    expect(large.map(({ payload }) => payload.text)).toEqual(['x'.repeat(60_000)]);
  });

  it('repeats no ended task or merged key', async () => {
    const again = { operation: 'done', id: 'd-1', payload: { depot: 'MUC' } };
    const merged = { operation: 'merging', id: 'm-2', payload: { depot: 'MUC', inputs: [{ id: 'b' }, { id: 'a' }] } };
    const more = { operation: 'merging', id: 'm-3', payload: { depot: 'MUC', inputs: [{ id: 'c' }] } };
    const before = await kit.task('d-1');
    await kit.running.ask('/tasks', { tasks: [again, merged] });
    await kit.ended(['m-2']);
    await kit.running.ask('/tasks', { tasks: [more] });
    await kit.ended(['m-3']);
    expect(await kit.task('d-1')).toEqual(before);
    const calls = kit.calls.filter(({ operation }) => operation === 'merging');
    expect(calls.map(({ text }) => JSON.parse(text).inputs)).toEqual([[{ id: 'c' }]]);
    expect(kit.calls.filter(({ items }) => items.some(({ id }) => id === 'd-1'))).toEqual([]);
  });

  it('completes a half-acked fan-out once, with the right counts', async () => {
    const { id, groups, acked, failed, itemOfTask } = kit.left.fanOut;
    const items = itemsOf(id, groups);
    const open = items.slice(acked).filter((item) => item !== itemOfTask);
    const half = items.slice(0, acked);
    // A repeated ack changes nothing, whatever its outcome.
    expect(await kit.running.ask('/fan-outs/acks', { items: half })).toMatchObject({ unknown: [] });
    expect(await kit.running.ask('/fan-outs/acks', { items: open })).toMatchObject({
      fanOuts: [{ id, complete: true }],
    });
    const counts = { status: 'complete', total: 600, failed, succeeded: 600 - failed, userKey: 'catalog' };
    expect(await kit.running.ask(`/fan-outs/${id}`)).toMatchObject(counts);
    expect(await kit.running.ask('/fan-outs/acks', { items: ['whole:0:0'] })).toMatchObject({
      fanOuts: [{ id: 'whole', complete: true }],
    });
  });

  it('keeps the claims of a list with their tokens, and each job ends once', async () => {
    const { id, claim, left: jobs } = kit.left.list;
    const path = `/lists/${id}`;
    expect(await kit.running.ask(path)).toMatchObject({ total: 40, leased: 7, started: 4, done: 3, available: 26 });
    const again = { claimId: 'kept', count: 10, leaseSeconds: 600 };
    const mine = await kit.running.ask<{ claimId: string; jobs: { token: number }[] }>(`${path}/claims`, again);
    expect(mine.jobs.map(({ token }) => token)).toEqual(jobs);
    await kit.running.ask(`${path}/claims/${encodeURIComponent(claim)}/complete`, {
      jobs: jobs.map((token) => ({ token })),
    });
    await kit.flush('waiting/depot=LIST');
    await eventually(async () => (await kit.running.ask(path)).done === 14);
    await kit.running.ask(`${path}/jobs`, { jobs: [{ payload: { depot: 'LIST', n: 40 } }], token: 'more' });
    await kit.running.ask(`${path}/seal`, undefined, 'POST');
    const seen: number[] = [];
    for (let n = 0; ; n += 1) {
      const found = await kit.running.ask<typeof mine>(`${path}/claims`, {
        count: 10,
        leaseSeconds: 600,
        claimId: `n${n}`,
      });
      if (found.jobs.length === 0) break;
      seen.push(...found.jobs.map(({ token }) => token));
      await kit.running.ask(`${path}/claims/${encodeURIComponent(found.claimId)}/complete`, {});
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(27);
    const { jobs: first } = await kit.running.ask<{ jobs: object[] }>(`${path}/jobs?from=0&limit=1`);
    expect(first).toMatchObject([{ token: 0, status: 'succeeded', result: { n: 0 } }]);
    const end = { status: 'complete', total: 41, done: 41, succeeded: 41, failed: 0, name: 'nightly' };
    expect(await kit.running.ask(path)).toMatchObject(end);
  });

  it('keeps partitions of fleets with their checkpoints', async () => {
    const isSo = async ({ fleet, partitions }: FleetSeen): Promise<void> => {
      for (const each of partitions)
        expect(await kit.running.ask(`/fleets/${fleet}/partitions/${each.id}`)).toMatchObject(each);
    };
    for (const each of kit.left.fleets) await isSo(each);
    const { file } = kit.running;
    const setting = { fleet: 'left', node: 'new-worker', endpoint: file.dynamodb, table: file.tables.fleet };
    const worker = startWorker({ release: TODAY, now: kit.now() }, setting);
    const names = ['east', 'north', 'south'];
    const worked = (checkpoint: string) =>
      eventually(async () => {
        const found = await Promise.all(
          names.map((id) => kit.running.ask<{ checkpoint: string }>(`/fleets/left/partitions/${id}`)),
        );
        return found.every((each) => each.checkpoint === checkpoint);
      });
    await worked('old-worker;new-worker;');
    // Checkpoints stay in the leases until no worker of the earlier release will return.
    expect(await kit.running.ask('/fleets/left')).not.toHaveProperty('checkpointsApart');
    await isSo({ fleet: 'left', partitions: names.map((id) => ({ id, fence: 2 })) });
    await kit.running.ask('/fleets/left/separate-checkpoints', undefined, 'POST');
    await worker.end('SIGTERM');
    const next = startWorker({ release: TODAY, now: kit.now() }, { ...setting, node: 'next-worker' });
    await worked('old-worker;new-worker;next-worker;');
    await isSo({ fleet: 'left', partitions: names.map((id) => ({ id, fence: 3 })) });
    await next.end('SIGTERM');
  });

  it('keeps dead letters and rejected messages', async () => {
    await eventually(async () => {
      await kit.running.ask('/dead-letters/register/redrive', {});
      return (await kit.running.call('/tasks/d-dead')).ok;
    });
    await kit.ended(['d-dead']);
    const refused = await takeAll(kit.running, kit.running.file.queues.rejected);
    expect(refused.map((body) => JSON.parse(body).errors[0].path)).toEqual(['operation']);
  });

  it('holds back a batch with a task of a later release', async () => {
    const { task: table } = kit.running.file.tables;
    const tasks = ['y-1', 'y-2'].map((id) => ({ operation: 'waiting', id, payload: { depot: 'LATER' } }));
    await kit.running.ask('/tasks', { tasks });
    await eventually(async () => (await kit.running.call('/tasks/y-2')).ok);
    await kit.setVersion(table, { Id: 'y-1' }, LATER);
    await kit.flush('waiting/depot=LATER');
    await eventually(() => kit.running.output().includes('has version 99'));
    expect((await kit.running.call('/tasks/y-1')).status).toBe(409);
    expect(kit.batchesWith('y-2')).toEqual([]);
    // The message of the batch stays in the queue, and the next start continues with it.
    await kit.setVersion(table, { Id: 'y-1' }, 1);
    expect(await kit.task('y-1')).toMatchObject({ status: 'created' });
  });

  it('keeps a task of a removed operation until the operation returns', async () => {
    expect(await kit.task('x-1')).toMatchObject({ status: 'created', waitsFor: { reason: 'operation-unknown' } });
    expect(kit.running.output()).toContain('! 1 Target of removed has tasks, but the operation is not configured');
    await kit.running.end('SIGTERM');
    await kit.start();
    await kit.flush('removed/depot=MUC');
    await kit.ended(['x-1']);
  });

  it('releases the held-back batch once its task is readable', async () => {
    await kit.ended(['y-1', 'y-2']);
    expect([kit.batchesWith('y-1'), kit.batchesWith('y-2')]).toEqual(
      Array.from({ length: 2 }, () => ['waiting/depot=LATER#1#1']),
    );
  });

  it('releases the batch that an open circuit held back', async () => {
    const { batchId } = await kit.task('c-1');
    await kit.ended(['c-1']);
    expect(kit.batchesWith('c-1')).toEqual([batchId]);
    expect(await kit.running.ask('/operations/circuit')).toMatchObject({ circuit: 'closed' });
  });

  it('keeps undelivered events, and each end has one id', async () => {
    const told = await eventsIn(kit.running, TOLD, (events) =>
      events.some(({ type }) => type === 'groupage.list.completed'),
    );
    const subjects = (type: string) =>
      [...new Set(told.filter((event) => event.type === type).map(({ id, data }) => `${data.id} ${id}`))].map(
        (text) => text.split(' ')[0],
      );
    expect(subjects('groupage.fan-out.completed').sort()).toEqual(['half', 'whole']);
    expect(subjects('groupage.list.completed')).toEqual(['deferred']);
    expect(subjects('groupage.task.succeeded')).toEqual(expect.arrayContaining(['d-1', 'w-told']));
    const late = await eventsIn(kit.running, DELETED, (events) => events.some(({ data }) => data.id === 'f-3'));
    expect(late).toContainEqual(expect.objectContaining({ type: 'groupage.task.failed' }));
  });

  it('has no stuck work in the end', async () => {
    let said = '';
    for (let looks = 0; looks < 20; looks += 1) {
      // With this machine's clock, which Node's HTTP servers put into the Date header.
      const { code, out } = await groupage(kit.folder, ['doctor', '--deep']);
      said = out;
      if (code === 0) break;
      await setTimeout(1_000);
    }
    expect(said).toContain('nothing is wrong');
    expect(kit.running.output()).not.toMatch(/✗/);
  });

  it('has a version in every row except untouched rows of operations', async () => {
    const without: string[] = [];
    for (const table of Object.values(kit.running.file.tables))
      for await (const { Items = [] } of paginateScan({ client: kit.running.clients.dynamodb }, { TableName: table }))
        without.push(...Items.filter((row) => (row.Version ?? row.v) === undefined).map((row) => String(row.Target)));
    expect(without.filter((target) => !target.startsWith('op:'))).toEqual([]);
    expect(without).not.toContain('op:capped');
  });

  it('with a row of a later release gets an error from the API and at start', async () => {
    const { file } = kit.running;
    await kit.setVersion(file.tables.task, { Id: 'd-1' }, LATER);
    await kit.setVersion(file.tables.batchLock, { Target: 'done/depot=MUC', Entry: 'lock' }, LATER);
    const answer = await kit.running.call('/tasks/d-1');
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ detail: expect.stringContaining('the task row "d-1" has version 99') }),
    ]);
    const { err } = await groupage(kit.folder, ['status', 'd-1']);
    expect(err).toContain('a later release wrote it');
    await kit.running.end('SIGTERM');
    await expect(kit.start()).rejects.toThrow(/the lock row "done\/depot=MUC \/ lock" has version 99/);
  });
});
