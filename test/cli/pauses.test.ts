import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { ApiError, type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

describe('groupage on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow({ batch: { maxSize: 10, maxWait: '10m' } });
    folder = mkdtempSync(join(tmpdir(), 'groupage-pauses-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, args);
  const said = (out: string) => ({ code: 0, out: `${out}\n`, err: '' });
  const waiting = async (depot: string): Promise<string> => {
    const [id = ''] = await flow.send([{ depot }]);
    await eventually(async () => {
      const { targets } = (await flow.get('/targets')) as { targets: { target: string; waiting: number }[] };
      return targets.some(({ target, waiting }) => target === flow.target(depot) && waiting > 0);
    });
    return id;
  };

  it('shows what a task waits for, and cancels waiting tasks', async () => {
    const id = await waiting('CANCEL');
    const target = flow.target('CANCEL');
    expect(await run('pause', '--target', target, '--reason', 'fog')).toEqual(
      said(
        `${target} is paused. Tasks wait; nothing is lost. Resume: groupage resume --target ${JSON.stringify(target)}`,
      ),
    );
    expect((await run('status', id)).out).toMatch(/\nwaits for +its Target, paused since \S+Z \(fog\)\n/);
    expect(await run('cancel', id)).toEqual(said(`${id} is cancelled`));
    expect(JSON.parse((await run('cancel', id, '--json')).out)).toMatchObject({ error: { code: 'cancelled' } });
    expect((await run('status', id, '--wait')).out).toMatch(/status +failed\n/);
    const done = await waiting('DONE');
    await flow.backend.api('/targets/flush', { method: 'POST', body: JSON.stringify({ target: flow.target('DONE') }) });
    await flow.ended([done]);
    expect(await run('cancel', done)).toEqual({
      code: 1,
      out: '',
      err: `task ${done} can no longer be cancelled: it has succeeded\n`,
    });
  });

  it('pauses and resumes an operation, and shows its state', async () => {
    expect(await run('resume', 'ship')).toEqual(
      said('ship is not paused. Its Targets may be: groupage targets --sort paused'),
    );
    expect(await run('pause', 'ship', '--reason', 'the port is closed')).toEqual(
      said('ship is paused. Tasks wait; nothing is lost. Resume: groupage resume ship'),
    );
    expect(await run('pause', 'ship')).toEqual(
      said('ship was already paused. Tasks wait; nothing is lost. Resume: groupage resume ship'),
    );
    expect((await run('operations')).out).toMatch(
      /\nship +closed +0 +no limit +0 +paused for .+: the port is closed\n/,
    );
    expect((await run('watch')).out).toMatch(/\nship: paused for .+: the port is closed\n/);
    const { operations } = JSON.parse((await run('operations', '--json')).out) as { operations: object[] };
    expect(operations).toMatchObject([{ operation: 'ship', paused: { by: 'person' } }]);
    expect(JSON.parse((await run('resume', 'ship', '--json')).out)).toMatchObject({ resuming: true });
    await eventually(async () => (await run('resume', 'ship')).out.startsWith('ship is not paused'));
  });

  it('pauses, flushes and resumes a Target', async () => {
    const id = await waiting('FLUSHED');
    const target = flow.target('FLUSHED');
    await run('pause', '--target', target);
    expect((await run('targets')).out).toMatch(/ship\/depot=FLUSHED .* paused for \S+ s\n/);
    expect((await run('watch')).out).toMatch(/ship\/depot=FLUSHED +1 .* paused/);
    expect(await run('flush', target)).toEqual(said(`${target}: 1 waiting task flushed`));
    expect(JSON.parse((await run('flush', target, '--json')).out)).toEqual({ target, waiting: 1 });
    expect(await run('resume', '--target', target)).toEqual(said(`${target} resumes in a moment`));
    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded' }]);
    const { out } = await run('resume', '--target', target);
    expect(out).toBe(
      `${target} is not paused itself, but its operation may be paused. Check this with: groupage operations\n`,
    );
  });

  it('exits with 1 if something is missing, and with 2 on wrong usage', async () => {
    expect(await run('cancel', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('no task "nobody"') });
    expect(await run('pause', 'shop')).toMatchObject({ code: 1, err: expect.stringContaining('configured are ship') });
    for (const args of [
      ['pause', '--target', 'ship/depot=NOWHERE'],
      ['resume', '--target', 'ship/depot=NOWHERE'],
      ['flush', 'ship/depot=NOWHERE'],
    ])
      expect(await run(...args)).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringContaining('there is no Target'),
      });
    for (const args of [
      ['cancel'],
      ['cancel', ''],
      ['flush'],
      ['pause'],
      ['pause', ''],
      ['resume', 'ship', '--target', 't'],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 2]);
  });
});

describe('groupage watch with an API of another release', () => {
  let api: FakeApi;
  beforeAll(async () => {
    api = await fakeApi();
  });
  afterAll(() => api.close());

  it('needs no operations, but fails on an error', async () => {
    const targets = { targets: [] };
    const answer = (status: number) =>
      api.answer({ 'GET /targets': targets, 'GET /operations': new ApiError(status, { detail: 'no such thing' }) });
    answer(404);
    expect(await groupage(tmpdir(), ['watch', '--api', api.url])).toMatchObject({ code: 0, err: '' });
    answer(500);
    expect(await groupage(tmpdir(), ['watch', '--api', api.url])).toMatchObject({ code: 1, err: 'no such thing\n' });
  });
});
