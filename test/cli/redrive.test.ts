import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { type FakeApi, fakeApi, NEVER } from './fake-api.ts';
import { groupage, groupageProcess } from './groupage.ts';

describe('groupage redrive on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-redrive-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, ['redrive', ...args]);

  const failedTasks = async (depot: string, count: number): Promise<string[]> => {
    flow.downstream.behave(() => ({ status: 422 }));
    const ids = await flow.send(Array.from({ length: count }, (_, n) => ({ depot, n })));
    await flow.ended(ids);
    flow.downstream.behave(() => ({ status: 200 }));
    return ids;
  };
  const succeeded = (id: string) =>
    eventually(async () => {
      const task = await flow.task(id);
      return task?.status === 'succeeded' ? task : undefined;
    });

  it('runs failed tasks again, and says why it skips others', async () => {
    const [id = ''] = await failedTasks('BY-ID', 1);
    expect(await run(id, '--dry-run')).toEqual({ code: 0, out: '1 task would run again\n', err: '' });
    expect(await flow.task(id)).toMatchObject({ status: 'failed', run: 1 });
    expect(await run(id, 'nobody')).toEqual({
      code: 1,
      out: '1 task runs again\n',
      err: expect.stringMatching(/^nobody: there is no task nobody/),
    });
    expect(await succeeded(id)).toMatchObject({ run: 2 });
    expect(await run(id)).toEqual({
      code: 1,
      out: '0 tasks run again\n',
      err: `${id}: it has succeeded\n`,
    });
    expect(JSON.parse((await run(id, '--json')).out)).toEqual({
      redriven: 0,
      skipped: [{ id, reason: 'it has succeeded' }],
    });
  });

  it('runs all failed tasks of a Target again', async () => {
    const ids = await failedTasks('TARGET', 3);
    const target = flow.target('TARGET');
    expect(await run('--target', target)).toEqual({ code: 0, out: '3 tasks run again\n', err: '' });
    for (const id of ids) expect(await succeeded(id)).toMatchObject({ run: 2 });
    expect(await run('--target', target)).toEqual({ code: 0, out: `${target} has no failed tasks\n`, err: '' });
  });

  it('runs all tasks with one cause of failure again', async () => {
    const ids = [...(await failedTasks('CAUSE-1', 2)), ...(await failedTasks('CAUSE-2', 1))];
    const { out } = await groupage(folder, ['failures', '--operation', 'ship']);
    const [, key = ''] = /^ +3 {2}ship +refused +\S+ +(\S{10})\n {4}answered 422$/m.exec(out) ?? [];
    expect(out).toMatch(/^TASKS +OPERATION +CODE +EXAMPLE +KEY\n/);
    expect(out).toContain(
      `To run the largest group again: groupage redrive --cause ${key} (3 tasks; use --dry-run first)`,
    );
    expect(JSON.parse((await groupage(folder, ['failures', '--json'])).out)).toMatchObject({
      groups: [{ key, tasks: 3, targets: 2 }],
      looked: 3,
    });
    expect(await run('--cause', key, '--dry-run')).toMatchObject({ code: 0, out: '3 tasks would run again\n' });
    expect(await run('--cause', key)).toEqual({ code: 0, out: '3 tasks run again\n', err: '' });
    for (const id of ids) expect(await succeeded(id)).toMatchObject({ run: 2 });
    expect(await groupage(folder, ['failures'])).toEqual({ code: 0, out: 'no failed tasks\n', err: '' });
    expect(await run('--cause', key)).toEqual({
      code: 1,
      out: '',
      err: `no failed task has the cause ${key}. List the causes with: groupage failures\n`,
    });
  });

  it('sends dead letters again', async () => {
    const body = JSON.stringify({ operation: 'ship', id: 'was-dead', payload: { depot: 'DEAD' } });
    const QueueUrl = flow.queue('registerDeadLetters');
    await flow.backend.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    const { code, out, err } = await run('--dead-letters', 'all');
    expect([code, err, out.split('\n').map((line) => line.split(':')[0])]).toEqual([
      0,
      '',
      ['register', 'elect', 'group', 'batch', ''],
    ]);
    await succeeded('was-dead');
    expect((await run('--dead-letters', 'all')).out).toBe(
      'register: no dead letters\nelect: no dead letters\ngroup: no dead letters\nbatch: no dead letters\n',
    );
  });
});

describe('groupage redrive', () => {
  let api: FakeApi;
  beforeAll(async () => {
    api = await fakeApi();
  });
  afterAll(() => api.close());
  const run = (...args: string[]) => groupage(tmpdir(), ['redrive', ...args, '--api', api.url]);
  const REJECTED = 'POST /dead-letters/rejected/redrive';

  it('needs exactly one kind of tasks or dead letters', async () => {
    for (const args of [
      [],
      ['a', '--target', 't'],
      ['--target', 't', '--dead-letters', 'all'],
      ['--dead-letters', 'some'],
      ['--dead-letters'],
      ['--odd'],
    ]) {
      const { code, out, err } = await run(...args);
      expect([args, code, out]).toEqual([args, 2, '']);
      expect(err).not.toBe('');
    }
    expect(api.asked).toEqual([]);
  });

  it('reads a Target page by page, and sends ids in chunks', async () => {
    const skipped = [{ id: 'a', reason: 'its operation is gone' }];
    api.answer({
      'POST /tasks/redrive': [
        { redriven: 1_000, skipped, cursor: 'c1' },
        { redriven: 7, skipped: [] },
      ],
    });
    expect(await run('--target', 'ship')).toEqual({
      code: 1,
      out: '1,007 tasks run again\n',
      err: 'a: its operation is gone\n',
    });
    expect(api.asked.map((each) => JSON.parse(each.slice(each.indexOf('{'))))).toEqual([
      { target: 'ship', dryRun: false },
      { target: 'ship', cursor: 'c1', dryRun: false },
    ]);
    api.answer({ 'POST /tasks/redrive': { redriven: 600, skipped: [] } });
    const ids = Array.from({ length: 1_200 }, (_, n) => `t-${n}`);
    expect((await run(...ids)).out).toBe('1,200 tasks run again\n');
    expect(api.asked.map((each) => (JSON.parse(each.slice(each.indexOf('{'))) as { ids: string[] }).ids)).toEqual([
      ids.slice(0, 1_000),
      ids.slice(1_000),
    ]);
  });

  it('repeats its request with the cursor, and names what was skipped', async () => {
    api.answer({
      'POST /dead-letters/elect/redrive': [
        { redriven: 500, skipped: [], left: 120, cursor: 'since' },
        { redriven: 119, skipped: [{ id: 'm-1', reason: 'closed\u001b[2J' }], left: 1 },
      ],
    });
    expect(await run('--dead-letters', 'elect')).toEqual({
      code: 1,
      out: 'elect: 619 dead letters sent again, about 1 left in the queue\n',
      err: 'elect m-1: closed\ufffd[2J\n',
    });
    expect(api.asked.map((each) => JSON.parse(each.slice(each.indexOf('{'))))).toEqual([
      { dryRun: false },
      { dryRun: false, cursor: 'since' },
    ]);
  });

  it('continues after messages it cannot send, until it meets them again', async () => {
    const skipped = (...ids: string[]) => ids.map((id) => ({ id, reason: 'its operation is unknown' }));
    api.answer({
      [REJECTED]: [
        { redriven: 0, skipped: skipped('a', 'b'), left: 20, cursor: 'since' },
        { redriven: 17, skipped: skipped('b', 'c'), left: 3, cursor: 'since' },
        { redriven: 0, skipped: skipped('c', 'a'), left: 3, cursor: 'since' },
      ],
    });
    const { code, out, err } = await run('--dead-letters', 'rejected');
    expect([code, out, api.asked.length]).toEqual([
      1,
      'rejected: 17 rejected messages sent again, about 3 left in the queue\n',
      3,
    ]);
    expect(err.split('\n').map((line) => line.split(':')[0])).toEqual(['rejected a', 'rejected b', 'rejected c', '']);
  });

  it('prints what was done before a failure', async () => {
    const answers = { redriven: 500, skipped: [{ id: 'm-1', reason: 'closed' }], left: 120, cursor: 'since' };
    // An answer that the API never gives.
    api.answer({ 'POST /dead-letters/elect/redrive': [answers, {}] });
    expect(await run('--dead-letters', 'elect')).toEqual({
      code: 1,
      out: 'elect: 500 dead letters sent again, about 120 left in the queue\n',
      err: expect.stringMatching(/^elect m-1: closed\n.*Check that this is the URL of a Groupage API/s),
    });
    api.answer({ 'POST /tasks/redrive': [{ redriven: 7, skipped: [], cursor: 'next' }, {}] });
    expect(await run('--target', 'ship')).toMatchObject({ code: 1, out: '7 tasks run again\n' });
    const skipped = Array.from({ length: 30 }, (_, n) => ({ id: `m-${n}`, reason: 'closed' }));
    api.answer({ 'POST /tasks/redrive': { redriven: 0, skipped } });
    expect((await run('--target', 'ship')).err).toContain('… and 10 more (--json shows all)\n');
  });

  it('prints what was done before Ctrl-C, and what may still happen', async () => {
    for (const [args, out] of [
      [[], 'elect: 500 dead letters sent again, about 120 left in the queue\n'],
      [['--json'], expect.stringMatching(/^\{"queues":\[\{"queue":"elect",.*\}\],"stopped":"interrupted"\}\n$/)],
    ] as const) {
      const answer = { redriven: 500, skipped: [{ id: 'm-1', reason: 'closed' }], left: 120, cursor: 'since' };
      api.answer({ 'POST /dead-letters/elect/redrive': [answer, NEVER] });
      const ran = groupageProcess(tmpdir(), ['redrive', '--dead-letters', 'elect', ...args, '--api', api.url]);
      await eventually(() => api.asked.length === 2);
      ran.child.kill('SIGINT');
      expect(await ran).toEqual({
        code: 130,
        out,
        err: 'elect m-1: closed\nInterrupted. The last request may still take effect for up to ten seconds\n',
      });
    }
  });

  it('says what the word all leaves out, and names the commands for it', async () => {
    const queues = [
      { queue: 'elect', messages: 0 },
      { queue: 'given-up', messages: 1 },
      { queue: 'rejected', messages: 2 },
    ];
    api.answer({
      'GET /dead-letters': { queues },
      'POST /dead-letters/elect/redrive': { redriven: 0, skipped: [], left: 0 },
    });
    expect(await run('--dead-letters', 'all')).toEqual({
      code: 0,
      out: 'elect: no dead letters\n',
      err: '1 given-up event left out. See them: groupage rejected --given-up. Send them again: groupage rejected redrive --all --given-up\n2 rejected messages left out. Read the reasons: groupage rejected. Send them again: groupage rejected redrive --all\n',
    });
    expect((await run('--help')).out.replaceAll(/\s+/g, ' ')).toContain(
      '`--dead-letters all` sends neither rejected messages nor given-up events',
    );
  });

  it('prints what a dry run would do, once', async () => {
    api.answer({ [REJECTED]: { dryRun: true, redriven: 4, skipped: [], left: 4 } });
    expect(await run('--dead-letters', 'rejected', '--dry-run')).toEqual({
      code: 0,
      out: 'rejected: 4 rejected messages would be sent again if accepted now\n',
      err: '',
    });
    expect(api.asked).toEqual(['POST /v1/dead-letters/rejected/redrive {"dryRun":true}']);
    api.answer({
      'POST /dead-letters/elect/redrive': { dryRun: true, redriven: 2, skipped: [], left: 2 },
      [REJECTED]: { dryRun: true, redriven: 4, skipped: [], left: 4 },
    });
    expect((await run('--dead-letters', 'elect', '--dry-run')).out).toBe(
      'elect: at most 2 dead letters would be sent again\n',
    );
    expect(JSON.parse((await run('--dead-letters', 'rejected', '--dry-run', '--json')).out)).toEqual({
      dryRun: true,
      queues: [{ queue: 'rejected', redriven: 4, skipped: [], left: 4 }],
    });
  });
});
