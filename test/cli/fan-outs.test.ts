import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupsTable, progressLine } from '../../tools/cli/commands/fan-out/show.ts';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { ApiError, type FakeApi, fakeApi, NEVER } from './fake-api.ts';
import { groupage, groupageProcess } from './groupage.ts';

describe('groupage fan-out on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-fan-outs-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, ['fan-out', ...args]);
  const piped = (input: string, ...args: string[]) => groupage(folder, ['fan-out', ...args], input);
  const said = (out: string) => ({ code: 0, out, err: '' });

  it('opens, fills, seals, acks and shows a fan-out', async () => {
    expect(await run('open', '--id', 'cli', '--user-key', 'spring', '--fail-fast', '10%')).toEqual(said('cli\n'));
    const add = async (...more: string[]) => (await run('add', 'cli', '451', '--token', 't', ...more)).out;
    const table = await add();
    expect(table).toMatch(
      /^451 items added to the fan-out cli\n\nGROUP +ITEMS EACH +FIRST +LAST\n0 +450 .*\n1 +1 .*\n$/,
    );
    const ids = (await add('--items')).trim().split('\n');
    expect(table.match(/cli:\S+/g)).toEqual([ids[0], ids[449], ids[450], ids[450]]);
    const items = (await run('add', 'cli', '2', '--items')).out;
    expect(items).toMatch(/^cli:2:0:[\w-]{22}\ncli:2:1:[\w-]{22}\n$/);
    expect(await run('seal', 'cli')).toEqual(said('cli is sealed\n'));
    expect(await run('ack', 'cli:1:0', '--failed')).toEqual(said('1 item acked\ncli is not complete yet\n'));
    expect((await run('show', 'cli')).out).toMatch(
      /^id +cli\nstatus +sealed\nitems +453\nsucceeded +0\nfailed +1\npending +452\nuser key +spring\ntolerates +up to 10% of the items failed\nopened +\S+ \(.+ ago\)\nwaits for +list the pending items: groupage fan-out items cli --status pending\nnext +list the failed items: groupage fan-out show cli --failed\n$/,
    );
    const pending = (await run('items', 'cli')).out.trim().split('\n');
    expect([pending.length, pending[0], pending[451]]).toEqual([452, 'cli:0:0', 'cli:2:1']);
    const first = Array.from({ length: 450 }, (_, index) => `cli:0:${index}`).join('\r\n');
    expect(await piped(`${first}\n\n  ${items}`, 'ack')).toEqual(said('452 items acked\ncli is complete (spring)\n'));
    expect(await run('items', 'cli', '--status', 'failed')).toEqual(said('cli:1:0\n'));
    expect(await run('show', 'cli', '--failed')).toEqual(said('cli:1:0\n'));
    expect(JSON.parse((await run('show', 'cli', '--json')).out)).toMatchObject({ status: 'complete', succeeded: 452 });
    expect(await run('seal', 'cli')).toEqual(said('cli is complete\n'));
    expect((await run('list')).out).toMatch(
      /^FAN-OUT +STATUS +ITEMS +AGE +USER KEY\ncli +complete +453 +\d\S* \w+ +spring\n$/,
    );
    expect(JSON.parse((await run('list', '--json')).out)).toMatchObject({ fanOuts: [{ id: 'cli', total: 453 }] });
    expect(await run('delete', 'cli')).toEqual(said('cli is deleted\n'));
    expect(await run('ack', 'cli:0:0')).toEqual({ code: 1, out: '0 items acked\n', err: 'unknown item: cli:0:0\n' });
  });

  it('keeps the tolerated share to the digit', async () => {
    const { id, failFast } = JSON.parse((await run('open', '--json', '--fail-fast', '0.7%')).out);
    expect(failFast).toEqual({ share: 0.007 });
    expect((await run('show', id)).out).toContain('tolerates  up to 0.7% of the items failed\n');
    const other = (await run('open', '--fail-fast', '29%')).out.trim();
    expect((await run('show', other)).out).toContain('tolerates  up to 29% of the items failed\n');
  });

  it('answers in JSON', async () => {
    const id = JSON.parse((await run('open', '--json', '--fail-fast', '3')).out).id as string;
    const added = JSON.parse((await run('add', id, '2', '--token', 't', '--json')).out);
    expect(added).toEqual({ groups: [{ id: 0, count: 2 }], itemKey: expect.stringMatching(/^[\w-]{43}$/), token: 't' });
    expect(JSON.parse((await run('add', id, '2', '--token', 't', '--json')).out)).toEqual(added);
    expect(JSON.parse((await run('seal', id, '--json')).out)).toEqual({ complete: false });
    const acked = await run('ack', '--json', '--failed', `${id}:0:0`, `${id}:9:0`);
    expect([acked.code, JSON.parse(acked.out)]).toEqual([
      1,
      { acked: 1, fanOuts: [{ id, complete: false }], unknown: [`${id}:9:0`] },
    ]);
    expect(JSON.parse((await run('show', id, '--failed', '--json')).out)).toEqual({ items: [`${id}:0:0`] });
    expect(JSON.parse((await run('delete', id, '--json')).out)).toMatchObject({ id, because: 'deleted' });
  });

  it('prints and acks more items than one request carries', async () => {
    await run('open', '--id', 'many');
    const { out } = await run('add', 'many', '46000', '--items');
    const lines = out.trimEnd().split('\n');
    expect([new Set(lines).size, lines[0], lines.at(-1)]).toEqual([
      46_000,
      expect.stringMatching(/^many:0:0:[\w-]{22}$/),
      expect.stringMatching(/^many:102:99:[\w-]{22}$/),
    ]);
    await run('seal', 'many');
    expect(await piped(out, 'ack')).toEqual(said('46,000 items acked\nmany is complete\n'));
  });

  it('watches to the end, with a line for each change', async () => {
    await run('open', '--id', 'seen');
    await run('add', 'seen', '4');
    const watching = groupageProcess(folder, ['fan-out', 'watch', 'seen', '--every', '0.2']);
    const printed: string[] = [];
    watching.child.stdout?.on('data', (data) => printed.push(String(data)));
    await eventually(() => printed.join('').includes('0 of 4 done · open'));
    await run('ack', 'seen:0:0', 'seen:0:1', 'seen:0:2');
    await eventually(() => printed.join('').includes('3 of 4 done · open'));
    await run('ack', 'seen:0:3');
    await run('seal', 'seen');
    const { code, out } = await watching;
    expect([code, out.split('\n').at(-2)]).toEqual([0, `seen  ${'█'.repeat(20)}  4 of 4 done · complete`]);
    expect(new Set(out.split('\n')).size).toBe(out.split('\n').length);
    await run('open', '--id', 'gone');
    await run('delete', 'gone');
    expect(await run('watch', 'gone')).toMatchObject({ code: 1, out: 'gone  expired (deleted) · 0 items\n' });
    const json = await run('watch', 'gone', '--json');
    expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { status: 'expired' }]);
  });

  it('exits with 1 on a refusal, and with 2 on wrong usage', async () => {
    await run('open', '--id', 'shut');
    await run('seal', 'shut');
    for (const [args, code, err] of [
      [['show', 'nobody'], 1, 'there is no fan-out "nobody"'],
      [['watch', 'nobody'], 1, 'there is no fan-out "nobody"'],
      [['open', '--callback', 'nobody'], 1, '  callback is unknown: "nobody"'],
      [['open', '--id', 'shut', '--user-key', 'k'], 1, 'already exists with another userKey'],
      [['ack', 'shut:0:0', 'shut:0'], 1, '"shut:0" must be the id of an item'],
      [['add', 'shut', '1'], 1, /^fan-out shut is complete: no more items can be added\n$/],
      [['add', 'shut', '0'], 2, 'Give a whole number'],
      [['add', 'shut', '1', '--items', '--json'], 2, '--items prints plain lines'],
      [['open', '--fail-fast', 'some'], 2, 'Give a number of items such as 3, or a share such as 10%'],
      [['open', '--id', 'a', '--id', 'b'], 2, "option '--id <id>' is given twice"],
      [['show', ''], 2, 'Give the id of a fan-out'],
      [['delete', '..'], 2, 'Give the id of a fan-out'],
      [['add', 'shut', '1', '--token', 'x'.repeat(49)], 2, 'Give well-formed text of 1 to 48 characters'],
      [['add', 'shut', '1', '--token', ''], 2, 'Give well-formed text of 1 to 48 characters'],
      [['watch', 'shut', '--every', '0'], 2, 'Give a number of seconds'],
      [[], 2, 'Usage: groupage fan-out'],
      [['mend'], 2, "unknown command 'mend'"],
    ] as const) {
      const ran = await run(...args);
      expect([args, ran]).toMatchObject([
        args,
        { code, out: '', err: typeof err === 'string' ? expect.stringContaining(err) : expect.stringMatching(err) },
      ]);
    }
    expect(await piped('shut:0:0\n\nbad\n', 'ack')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^line 3: "bad" must .*\nno item was acked\n$/),
    });
  });
});

describe('groupage fan-out with a failing API', () => {
  let fake: FakeApi;
  let folder: string;
  beforeAll(async () => {
    fake = await fakeApi();
    folder = mkdtempSync(join(tmpdir(), 'groupage-fan-outs-'));
  });
  afterAll(() => {
    fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const toFake = (args: readonly string[]) => ['fan-out', ...args, '--api', fake.url];
  const run = (args: readonly string[], input = '') => groupage(folder, toFake(args), input);
  const begin = (args: readonly string[], input = '') => groupageProcess(folder, toFake(args), input);
  const broken = new ApiError(500, { detail: 'something went wrong here' });

  it('prints the command that adds the same items', async () => {
    fake.answer({ 'POST /fan-outs/f/items': [{ groups: [{ id: 0, count: 45_000 }] }, broken] });
    const { code, err } = await run(['add', 'f', '50000']);
    const [, token] = /groupage fan-out add f 50000 --token "(\w+)" --api "[^"]+"\n$/.exec(err) ?? [];
    expect([code, fake.asked]).toEqual([
      1,
      [
        `POST /v1/fan-outs/f/items {"count":45000,"token":"${token}.0"}`,
        `POST /v1/fan-outs/f/items {"count":5000,"token":"${token}.1"}`,
      ],
    ]);
  });

  const hundred = { groups: Array.from({ length: 100 }, (_, id) => ({ id, count: 450 })) };

  it('prints that command after Ctrl-C or a closed output', async () => {
    for (const end of ['Ctrl-C', 'no reader']) {
      fake.answer({ 'POST /fan-outs/f/items': [hundred, NEVER] });
      const ran = begin(['add', 'f', '90000', '--items']);
      if (end === 'no reader') ran.child.stdout?.destroy();
      else await eventually(() => fake.asked.length === 2);
      if (end === 'Ctrl-C') ran.child.kill('SIGINT');
      const { code, err } = await ran;
      const [, token] = /"token":"(\w+)\.0"/.exec(fake.asked[0] ?? '') ?? [];
      const again = `To add all items without adding any item twice, run: groupage fan-out add f 90000 --items --token "${token}" --api "${fake.url}"\n`;
      expect([end, code, err]).toEqual([end, 130, expect.stringContaining(again)]);
    }
  });

  it('prints how many items were acked before Ctrl-C', async () => {
    const answers = Array.from({ length: 10 }, () => ({ fanOuts: [], unknown: [] }));
    fake.answer({ 'POST /fan-outs/acks': [...answers, NEVER] });
    const lines = Array.from({ length: 11_000 }, (_, index) => `f:${index}:0`);
    const ran = begin(['ack'], lines.join('\n'));
    await eventually(() => fake.asked.length === 11);
    ran.child.kill('SIGINT');
    expect(await ran).toEqual({
      code: 130,
      out: '',
      err: '10,000 items were acked. To ack the rest, run the command again with all items: acking an item twice has no effect\n',
    });
  });

  it('prints how many items were acked before the failure', async () => {
    fake.answer({
      'POST /fan-outs/acks': [...Array.from({ length: 10 }, () => ({ fanOuts: [], unknown: [] })), broken],
    });
    const lines = Array.from({ length: 11_000 }, (_, index) => `f:${index}:0`);
    const { code, err } = await run(['ack'], lines.join('\n'));
    expect([code, err]).toEqual([
      1,
      'something went wrong here\n10,000 items were acked. To ack the rest, run the command again with all items: acking an item twice has no effect\n',
    ]);
  });

  it('continues to watch after an error, but not after 404', async () => {
    const view = { id: 'f', status: 'sealed', total: 2, failed: 0, pending: 1, createdAt: new Date().toISOString() };
    fake.answer({ 'GET /fan-outs/f': [view, broken, { ...view, status: 'complete', pending: 0 }] });
    const { code, out, err } = await run(['watch', 'f', '--every', '0.2']);
    expect([code, out.trim().split('\n').length, err]).toEqual([0, 2, 'something went wrong here; retrying …\n']);
    fake.answer({ 'GET /fan-outs/f': [view, new ApiError(404, { detail: 'there is no fan-out "f"' })] });
    expect(await run(['watch', 'f', '--every', '0.2'])).toMatchObject({ code: 1, err: 'there is no fan-out "f"\n' });
  });
});

describe('a fan-out in the terminal', () => {
  const view = { id: 'f', status: 'sealed', total: 3, failed: 0, createdAt: '2026-01-01T00:00:00Z' } as const;

  it('has a full bar only when all items are done', () => {
    expect(progressLine({ ...view, pending: 3 })).toBe(`f  ${'░'.repeat(20)}  0 of 3 done · sealed`);
    expect(progressLine({ ...view, total: 1_000, pending: 1, failed: 2 })).toBe(
      `f  ${'█'.repeat(19)}░  999 of 1,000 done · 2 failed · sealed`,
    );
    expect(progressLine({ ...view, total: 0, pending: 0, status: 'open' })).toContain('0 of 0 done · open');
    expect(progressLine({ ...view, countsAreAtLeast: true })).toBe('f  sealed · 3 items');
    expect(progressLine({ ...view, status: 'complete', because: 'too-many-failed', failed: 2 })).toBe(
      'f  complete (too many items failed) · 3 items · 2 failed',
    );
  });

  it('has one line for all adjacent groups of one size', () => {
    const groups = [0, 1, 2, 4].map((id) => ({ id, count: 450 }));
    expect(
      groupsTable('f', [...groups, { id: 5, count: 7 }])
        .split('\n')
        .slice(1),
    ).toEqual([
      '0 to 2         450  f:0:0  f:2:449',
      '4              450  f:4:0  f:4:449',
      '5                7  f:5:0  f:5:6',
    ]);
  });
});
