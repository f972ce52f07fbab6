/** Today's release goes on with the data folder that a former one left when it was killed (docs/upgrades.md). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { groupage } from '../cli/groupage.ts';
import { eventually } from '../end-to-end/flow.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { DELETED, TOLD, upgradeConfig } from './config.ts';
import { type Expected, itemsOf, releases, unpack } from './fixture.ts';
import { FLOOD } from './flood.ts';
import { type Running, startRelease, startWorker } from './release.ts';
import { eventsIn, hasDynoxide, takeAll } from './seen.ts';

const TODAY = join(import.meta.dirname, '../..');
const MINUTE = 60_000;

// The tables' file is dynoxide's, which runs on Linux alone.
describe.skipIf(!hasDynoxide() && !NOTHING_MAY_BE_MISSING).each(releases())('a data folder of %s', (release) => {
  let folder: string;
  let downstream: TestDownstream;
  let running: Running;
  let left: Expected;
  let startedAt: number;

  const start = async (without?: 'removed'): Promise<void> => {
    const { operations, ...config } = upgradeConfig(downstream.url);
    const kept = Object.entries(operations).filter(([name]) => name !== without);
    // A minute after the other was killed, as a deployment may be.
    const now = left.writtenAt + MINUTE + (Date.now() - startedAt);
    running = await startRelease({
      release: TODAY,
      folder,
      config: { ...config, operations: Object.fromEntries(kept) },
      now,
    });
  };
  const now = (): number => left.writtenAt + MINUTE + (Date.now() - startedAt);
  const task = (id: string) => running.ask(`/tasks/${encodeURIComponent(id)}`);
  const ended = (ids: readonly string[], status = 'succeeded') =>
    Promise.all(
      ids.map((id) =>
        eventually(async () => {
          const found = await task(id);
          return found.status === status ? found : undefined;
        }),
      ),
    );
  const batchesWith = (id: string) =>
    downstream.calls.filter(({ items }) => items.some((item) => item.id === id)).map(({ batchId }) => batchId);
  const flush = (target: string) => running.ask('/targets/flush', { target });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-upgrade-'));
    downstream = await startTestDownstream(({ operation }) =>
      operation === 'capped' ? { status: 202, body: { pending: true } } : { status: 200 },
    );
    left = unpack(release, folder);
    startedAt = Date.now();
    await start('removed');
  });
  afterAll(async () => {
    await running?.end('SIGTERM');
    await downstream?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('what was on its way, as a message or in a batch, is done once', async () => {
    await ended(FLOOD);
    for (const id of FLOOD) expect(new Set(batchesWith(id)).size, id).toBeLessThanOrEqual(1);
    expect((await task('h-1')).batchId).toBe('hanging/depot=MUC#1#1');
    expect(batchesWith('h-1')).toEqual(['hanging/depot=MUC#1#1']);
  });

  it('what waits goes on waiting, and is done once when it is its turn', async () => {
    expect(await task('w-plain')).toMatchObject({ status: 'created', waitsFor: { reason: 'batch-to-fill' } });
    await flush('waiting/depot=MUC');
    const ids = ['w-plain', 'w-urgent', 'w-newer', 'w-heavy', 'w-large', 'w-told', 'w-item'];
    await ended(ids);
    const calls = downstream.calls.filter(({ target }) => target === 'waiting/depot=MUC');
    expect(calls.map(({ items }) => items.map(({ id }) => id))).toEqual([
      ['w-urgent', ...(calls[0]?.items.slice(1).map(({ id }) => id) ?? [])],
    ]);
    expect(calls[0]?.items.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(calls[0]?.items.find(({ id }) => id === 'w-large')?.payload.text).toBe('x'.repeat(60_000));
    expect(await task('w-older')).toMatchObject({ status: 'succeeded', supersededBy: 'w-newer' });
    expect(await task('w-cancelled')).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  });

  it('a batch that is being retried keeps its id and counts its attempts on', async () => {
    await ended(['r-1', 'r-2']);
    const [call] = downstream.calls.filter(({ operation }) => operation === 'retried');
    expect(call?.batchId).toBe(left.retried.id);
    expect(call?.attempt).toBeGreaterThan(left.retried.attempt);
    expect(batchesWith('r-1')).toEqual([left.retried.id]);
    expect(call?.items.find(({ id }) => id === 'r-2')?.payload.text).toBe('x'.repeat(60_000));
  });

  it('a job reports what it was asked before, and is not asked again', async () => {
    expect(await task('j-1')).toMatchObject({ status: 'in-progress', waitsFor: { reason: 'job' } });
    await running.ask(`/batches/${encodeURIComponent(left.job.id)}/complete`, {});
    await ended(['j-1', 'j-2']);
    expect(downstream.calls.filter(({ operation }) => operation === 'job')).toEqual([]);
  });

  it('a cap holds, and Targets that wait for room get it one by one', async () => {
    expect(await running.ask('/operations/capped')).toMatchObject({ waitingTargets: 2, batches: [left.holding.id] });
    let holding = left.holding.id;
    for (let more = 2; more > 0; more -= 1) {
      await running.ask(`/batches/${encodeURIComponent(holding)}/complete`, {});
      holding = await eventually(async () => {
        const { batches } = await running.ask<{ batches: string[] }>('/operations/capped');
        expect(batches.length).toBeLessThanOrEqual(1);
        return batches.find((id) => id !== holding);
      });
      const isAsked = () => downstream.calls.some(({ batchId }) => batchId === holding);
      await eventually(isAsked);
      await eventually(async () => (await running.ask(`/batches/${encodeURIComponent(holding)}`)).pending === 1);
    }
    await running.ask(`/batches/${encodeURIComponent(holding)}/complete`, {});
    await ended(['cap-A', 'cap-B', 'cap-C']);
  });

  it('what is paused stays paused until somebody resumes it', async () => {
    const paused = { by: 'person', reason: 'before the upgrade' };
    expect(await running.ask('/operations/paused')).toMatchObject({ paused });
    expect(await task('p-1')).toMatchObject({ status: 'created', waitsFor: { reason: 'operation-paused' } });
    await running.ask('/operations/paused/resume', {});
    await ended(['p-1', 'p-2']);
  });

  it('an open circuit stays open until somebody resumes it', async () => {
    expect(await running.ask('/operations/circuit')).toMatchObject({ circuit: 'open' });
    await running.ask('/operations/circuit/resume', {});
    await eventually(async () => (await running.ask('/operations/circuit')).circuit !== 'open');
  });

  it('what failed is found, and redriven with its payload', async () => {
    const ids = ['f-1', 'f-2', 'f-3'];
    for (const found of await ended(ids, 'failed')) expect(found).toMatchObject({ error: { code: 'broken' }, run: 1 });
    expect(await running.ask('/tasks/redrive', { target: 'failing/depot=MUC' })).toMatchObject({ redriven: 3 });
    for (const found of await ended(ids)) expect(found).toMatchObject({ run: 2 });
    const large = downstream.calls.flatMap(({ items }) => items).filter(({ id }) => id === 'f-2');
    expect(large.map(({ payload }) => payload.text)).toEqual(['x'.repeat(60_000)]);
  });

  it('what is done stays done: a message that comes again, and keys that were merged', async () => {
    const again = { operation: 'done', id: 'd-1', payload: { depot: 'MUC' } };
    const merged = { operation: 'merging', id: 'm-2', payload: { depot: 'MUC', inputs: [{ id: 'b' }, { id: 'a' }] } };
    const more = { operation: 'merging', id: 'm-3', payload: { depot: 'MUC', inputs: [{ id: 'c' }] } };
    const before = await task('d-1');
    await running.ask('/tasks', { tasks: [again, merged] });
    await ended(['m-2']);
    await running.ask('/tasks', { tasks: [more] });
    await ended(['m-3']);
    expect(await task('d-1')).toEqual(before);
    const calls = downstream.calls.filter(({ operation }) => operation === 'merging');
    expect(calls.map(({ text }) => JSON.parse(text).inputs)).toEqual([[{ id: 'c' }]]);
    expect(downstream.calls.filter(({ items }) => items.some(({ id }) => id === 'd-1'))).toEqual([]);
  });

  it('a fan-out of which half was acked is complete once, with the right counts', async () => {
    const { id, groups, acked, failed, itemOfTask } = left.fanOut;
    const items = itemsOf(id, groups);
    const open = items.slice(acked).filter((item) => item !== itemOfTask);
    const half = items.slice(0, acked);
    // An ack that comes again changes nothing, whatever it says.
    expect(await running.ask('/fan-outs/acks', { items: half })).toMatchObject({ unknown: [] });
    expect(await running.ask('/fan-outs/acks', { items: open })).toMatchObject({ fanOuts: [{ id, complete: true }] });
    const counts = { status: 'complete', total: 600, failed, succeeded: 600 - failed, userKey: 'catalog' };
    expect(await running.ask(`/fan-outs/${id}`)).toMatchObject(counts);
    expect(await running.ask('/fan-outs/acks', { items: ['whole:0:0'] })).toMatchObject({
      fanOuts: [{ id: 'whole', complete: true }],
    });
  });

  it('claims of a list go on with their tokens, and each job ends once', async () => {
    const { id, claim, left: jobs } = left.list;
    const path = `/lists/${id}`;
    expect(await running.ask(path)).toMatchObject({ total: 40, leased: 7, started: 4, done: 3, available: 26 });
    const again = { claimId: 'kept', count: 10, leaseSeconds: 600 };
    const mine = await running.ask<{ claimId: string; jobs: { token: number }[] }>(`${path}/claims`, again);
    expect(mine.jobs.map(({ token }) => token)).toEqual(jobs);
    await running.ask(`${path}/claims/${encodeURIComponent(claim)}/complete`, {
      jobs: jobs.map((token) => ({ token })),
    });
    await flush('waiting/depot=LIST');
    await eventually(async () => (await running.ask(path)).done === 14);
    await running.ask(`${path}/jobs`, { jobs: [{ payload: { depot: 'LIST', n: 40 } }], token: 'more' });
    await running.ask(`${path}/seal`, undefined, 'POST');
    const seen: number[] = [];
    for (let n = 0; ; n += 1) {
      const found = await running.ask<typeof mine>(`${path}/claims`, {
        count: 10,
        leaseSeconds: 600,
        claimId: `n${n}`,
      });
      if (found.jobs.length === 0) break;
      seen.push(...found.jobs.map(({ token }) => token));
      await running.ask(`${path}/claims/${encodeURIComponent(found.claimId)}/complete`, {});
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(27);
    const { jobs: first } = await running.ask<{ jobs: object[] }>(`${path}/jobs?from=0&limit=1`);
    expect(first).toMatchObject([{ token: 0, status: 'succeeded', result: { n: 0 } }]);
    const end = { status: 'complete', total: 41, done: 41, succeeded: 41, failed: 0, name: 'nightly' };
    expect(await running.ask(path)).toMatchObject(end);
  });

  it('partitions of fleets keep owner, fence and checkpoint, and today’s workers go on from there', async () => {
    for (const { fleet, partitions } of left.fleets)
      expect(await running.ask(`/fleets/${fleet}`)).toMatchObject({ partitions });
    const { file } = running;
    const setting = { fleet: 'left', node: 'new-worker', endpoint: file.dynamodb, table: file.tables.fleet };
    const worker = startWorker({ release: TODAY, now: now() }, setting);
    const partitions = ['east', 'north', 'south'].map((id) => ({ id, fence: 2, checkpoint: 'old-worker;new-worker;' }));
    await eventually(async () => {
      const found = await running.ask<{ partitions: { fence: number; checkpoint: string }[] }>('/fleets/left');
      return found.partitions.every(({ checkpoint }) => checkpoint.endsWith('new-worker;')) && found;
    });
    expect(await running.ask('/fleets/left')).toMatchObject({ partitions });
    await worker.end('SIGTERM');
  });

  it('dead letters and refused messages are there, and a task among them is registered', async () => {
    await eventually(async () => {
      await running.ask('/dead-letters/register/redrive', {});
      return (await running.call('/tasks/d-dead')).ok;
    });
    await ended(['d-dead']);
    const refused = await takeAll(running, running.file.queues.rejected);
    expect(refused.map((body) => JSON.parse(body).errors[0].path)).toEqual(['operation']);
  });

  it('a task whose operation was removed says so and waits, and is done when it is back', async () => {
    expect(await task('x-1')).toMatchObject({ status: 'created', waitsFor: { reason: 'operation-unknown' } });
    expect(running.output()).toContain('! 1 Target of removed has tasks, but the operation is not configured');
    await running.end('SIGTERM');
    await start();
    await flush('removed/depot=MUC');
    await ended(['x-1']);
  });

  it('the batch that an open circuit held is done', async () => {
    const { batchId } = await task('c-1');
    await ended(['c-1']);
    expect(batchesWith('c-1')).toEqual([batchId]);
    expect(await running.ask('/operations/circuit')).toMatchObject({ circuit: 'closed' });
  });

  it('events that were not delivered are, and each end is told with one id', async () => {
    const told = await eventsIn(running, TOLD, (events) =>
      events.some(({ type }) => type === 'groupage.list.completed'),
    );
    const subjects = (type: string) =>
      [...new Set(told.filter((event) => event.type === type).map(({ id, data }) => `${data.id} ${id}`))].map(
        (text) => text.split(' ')[0],
      );
    expect(subjects('groupage.fan-out.completed').sort()).toEqual(['half', 'whole']);
    expect(subjects('groupage.list.completed')).toEqual(['deferred']);
    expect(subjects('groupage.task.succeeded')).toEqual(expect.arrayContaining(['d-1', 'w-told']));
    const late = await eventsIn(running, DELETED, (events) => events.some(({ data }) => data.id === 'f-3'));
    expect(late).toContainEqual(expect.objectContaining({ type: 'groupage.task.failed' }));
  });

  it('in the end nothing is stuck', async () => {
    let said = '';
    for (let looks = 0; looks < 20; looks += 1) {
      // With this machine's clock: that is what Node's HTTP servers tell.
      const { code, out } = await groupage(folder, ['doctor', '--deep']);
      said = out;
      if (code === 0) break;
      await setTimeout(1_000);
    }
    expect(said).toContain('nothing is wrong');
    expect(running.output()).not.toMatch(/✗/);
  });

  it('every row says of which version it is, but those of operations that nothing has touched since', async () => {
    const without: string[] = [];
    for (const table of Object.values(running.file.tables))
      for await (const { Items = [] } of paginateScan({ client: running.clients.dynamodb }, { TableName: table }))
        without.push(...Items.filter((row) => (row.Version ?? row.v) === undefined).map((row) => String(row.Target)));
    expect(without.filter((target) => !target.startsWith('op:'))).toEqual([]);
    expect(without).not.toContain('op:capped');
  });

  it('and a row of a later release is named by the API, and by a start that meets it', async () => {
    const { file, clients } = running;
    const raise = (TableName: string, Key: Record<string, string>) =>
      clients.dynamodb.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'SET Version = :later',
          ExpressionAttributeValues: { ':later': 99 },
        }),
      );
    await raise(file.tables.task, { Id: 'd-1' });
    await raise(file.tables.batchLock, { Target: 'done/depot=MUC', Entry: 'lock' });
    const answer = await running.call('/tasks/d-1');
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ detail: expect.stringContaining('the task row "d-1" has version 99') }),
    ]);
    const { err } = await groupage(folder, ['status', 'd-1']);
    expect(err).toContain('a later release wrote it');
    await running.end('SIGTERM');
    await expect(start()).rejects.toThrow(/the lock row "done\/depot=MUC \/ lock" has version 99/);
  });
});
