/** `groupage fleet worker` with real processes, on a real table. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { groupageProcess, NODE } from '../cli/groupage.ts';
import { eventually } from '../end-to-end/flow.ts';
import { partition } from '../factories/fleets.ts';
import { engine, table, useTable } from '../fleet/node-on-table.ts';
import { LANGUAGES, livingIn, notesIn, useWorker, withFolder } from './languages.ts';

useTable();

let fleets = 0;
/** A fleet of its own, and the command that joins it. */
const newFleet = () => {
  fleets += 1;
  const fleet = `workers-${fleets}` as FleetName;
  const folder = temporaryFolder('workers');
  const env = withFolder(folder, {
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  const usual = ['--table', table.table, '--cycle', '0.5', '--timeout', '5'];
  const start = (command: readonly string[], ...options: string[]) =>
    groupageProcess(folder, ['fleet', 'worker', fleet, ...usual, ...options, '--', ...command], '', env);
  const store = () => fleetsAt(table);
  const positionOf = async (id: string) => Number(await store().checkpointOf(fleet, partition(id)));
  const isPast = async (ids: readonly string[], position: number) =>
    (await Promise.all(ids.map(positionOf))).every((reached) => reached > position);
  const owners = async () => new Set((await store().read(fleet)).leases.map(({ owner }) => owner?.split('@')[0]));
  return { fleet, folder, start, positionOf, isPast, owners };
};

/** A line `PID PARTITION FENCE from|to POSITION` of a worker. */
const spansOf = (folder: string, id: string) =>
  notesIn(folder)
    .map((line) => line.split(' '))
    .filter(([, name]) => name === id)
    .map(([pid, , fence, what, position]) => ({ pid, fence: Number(fence), what, position: Number(position) }));

describe.each(LANGUAGES)('a fleet with workers in %s', (language) => {
  const command = useWorker(language, 'partition');

  it('hands partitions over, and goes on after a kill', async () => {
    const { folder, start, isPast, owners, positionOf } = newFleet();
    const ids = ['0', '1', '2'];
    const first = start(command(), '--partitions', '3', '--node', 'first');
    await eventually(() => isPast(ids, 3));
    const second = start(command(), '--partitions', '3', '--node', 'second');
    await eventually(async () => (await owners()).has('second'));
    first.child.kill('SIGTERM');
    expect(await first).toMatchObject({ code: 0, out: '', err: expect.stringContaining('has stopped') });
    await eventually(async () => (await owners()).size === 1 && (await owners()).has('second'));
    const moved = Math.max(...(await Promise.all(ids.map(positionOf))));
    await eventually(() => isPast(ids, moved));
    for (const id of ids) {
      const [begun, ended, next, ...more] = spansOf(folder, id);
      expect([begun?.what, ended?.what, next?.what, more]).toEqual(['from', 'to', 'from', []]);
      expect(next?.position).toBe(ended?.position);
      expect(next?.fence).toBeGreaterThan(ended?.fence ?? 0);
      expect(next?.pid).not.toBe(ended?.pid);
    }
    expect(livingIn(folder)).toHaveLength(3);
    second.child.kill('SIGKILL');
    await second;
    await eventually(() => livingIn(folder).length === 0, 30_000);
    const reached = await Promise.all(ids.map(positionOf));
    const third = start(command(), '--partitions', '3', '--node', 'third');
    await eventually(() => isPast(ids, Math.max(...reached)));
    for (const [n, id] of ids.entries())
      expect(spansOf(folder, id).at(-1)).toMatchObject({ what: 'from', position: reached[n] });
    third.child.kill('SIGINT');
    expect(await third).toMatchObject({ code: 130 });
    expect(livingIn(folder)).toEqual([]);
  });

  it('replaces a dead or silent process, reports an exit', async () => {
    const { folder, start, isPast } = newFleet();
    const ran = start(command(), '--partitions', 'dies,silent=2,ends', '--node', 'only');
    await eventually(() => isPast(['dies', 'silent'], 8));
    ran.child.kill('SIGTERM');
    const { code, err } = await ran;
    expect(code).toBe(0);
    expect(err).toContain('partition dies: the worker process ended with exit status 3. If this node keeps');
    expect(err).toContain('partition silent: the worker process sent no message for 5 s, so it was killed');
    expect(err).toContain('partition ends: the worker process has exited by itself (--when-finished keep)');
    for (const id of ['dies', 'silent'])
      expect(spansOf(folder, id)).toMatchObject([{ position: 0 }, { what: 'from', position: 5 }, { what: 'to' }]);
    expect(livingIn(folder)).toEqual([]);
  });
});

describe('groupage fleet worker', () => {
  it('joins no fleet if the program cannot start', async () => {
    const { start, owners } = newFleet();
    const options = ['--partitions', '2'];
    expect(await start(['./nonesuch'], ...options)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no such program'),
    });
    expect(await start([NODE, '-e', ''], ...options)).toMatchObject({
      code: 1,
      err: expect.stringContaining('before its first message'),
    });
    expect((await owners()).size).toBe(0);
  });

  it('reports a checkpoint that is too large, and begins again', async () => {
    const { start, fleet } = newFleet();
    const large = `const send = (message) => console.log(JSON.stringify(message)); send({ type: 'ready' });
      process.stdin.on('data', () => send({ type: 'checkpoint', value: 'x'.repeat(5_000) }));`;
    const ran = start([NODE, '-e', large], '--partitions', 'one');
    let err = '';
    ran.child.stderr?.on('data', (data) => {
      err += String(data);
    });
    await eventually(() => err.match(/at most 4096 bytes/g)?.length === 2);
    expect(await fleetsAt(table).checkpointOf(fleet, partition('one'))).toBeUndefined();
    ran.child.kill('SIGTERM');
    expect(await ran).toMatchObject({ code: 0 });
  });

  it('refuses wrong options', async () => {
    const { start } = newFleet();
    const wrong = (...options: string[]) => start(['nonesuch'], ...options);
    expect(await wrong()).toMatchObject({ code: 2, err: expect.stringContaining('--partitions') });
    expect(await wrong('--partitions', 'a=b')).toMatchObject({ code: 2, err: expect.stringContaining('eu=3,us=1') });
    expect(await wrong('--partitions', '2', '--stack', 'Mine')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Give --table NAME instead of --stack'),
    });
    const restart = ['--partitions', '2', '--restart-within', '0.5'];
    expect(await wrong(...restart)).toMatchObject({ code: 2, err: expect.stringContaining('needs --node') });
    expect(await wrong(...restart, '--node', 'a')).toMatchObject({
      code: 2,
      err: expect.stringContaining('at least six cycles'),
    });
  });
});
