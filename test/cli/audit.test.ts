/** `--reason`, and `groupage audit`, on a local stack. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { groupage } from './groupage.ts';

describe('groupage', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow({ batch: { maxSize: 10, maxWait: '10m' } });
    folder = mkdtempSync(join(tmpdir(), 'groupage-audit-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, args);
  const entries = async (...args: string[]) => {
    const { out } = await run('audit', '--json', ...args);
    return (JSON.parse(out) as { entries: Record<string, unknown>[] }).entries;
  };

  it('records each change with its reason, and who made it', async () => {
    const why = 'the depot & "co" move';
    const because = ['--reason', why];
    const changes: [string[], string, object][] = [
      [['pause', 'ship', ...because], 'pause', { operation: 'ship' }],
      [['resume', 'ship', ...because], 'resume', { operation: 'ship' }],
      [['flush', 'ship/depot=MUC', ...because], 'flush', { target: 'ship/depot=MUC' }],
      [['cancel', 'a', ...because], 'cancel', { task: 'a' }],
      [['redrive', 'a', ...because], 'redrive', { tasks: 'a' }],
      [['redrive', '--dead-letters', 'register', ...because], 'redrive', { queue: 'register' }],
      [['doctor', '--deep', '--repair', ...because], 'repair', {}],
      [['fan-out', 'delete', 'f', ...because], 'delete', { fanOut: 'f' }],
      [['lists', 'cancel', 'l', ...because], 'cancel', { list: 'l' }],
      [['lists', 'delete', 'l', ...because], 'delete', { list: 'l' }],
      [['fleet', 'drain', 'f', 'n', ...because], 'drain', { fleet: 'f', node: 'n', draining: 'true' }],
      [['fleet', 'move', 'f', 'p', '--free', ...because], 'move', { fleet: 'f', partition: 'p', to: 'any node' }],
      [['fleet', 'separate-checkpoints', 'f', ...because], 'separate', { fleet: 'f' }],
    ];
    for (const [args] of changes) await run(...args);
    const found = await entries();
    expect(found.map(({ action, subject, reason }) => [action, subject, reason])).toEqual(
      changes.map(([, action, subject]) => [action, subject, why]).toReversed(),
    );
    expect(new Set(found.map(({ actor }) => JSON.stringify(actor)))).toEqual(
      new Set([JSON.stringify({ id: 'local', name: userInfo().username })]),
    );
  });

  it('prints the trail as a table, the newest entry first', async () => {
    await run('pause', 'ship');
    await run('cancel', 'unknown', '--reason', 'sent twice');
    const { out, err } = await run('audit', '--limit', '2');
    const [heading, ...rows] = out.trimEnd().split('\n');
    expect(heading).toMatch(/^TIME +ACTION +OF +BY +FROM +OUTCOME +REASON/);
    expect(rows).toEqual([
      expect.stringMatching(/^\S+Z +cancel +task unknown +\S+ +refused \(404\) +sent twice$/),
      expect.stringMatching(/^\S+Z +pause +operation ship +\S+ +done \(200\) *$/),
    ]);
    expect(err).toMatch(/only the first 2 are shown/);
    expect(await run('audit', '--day', '2020-01-01')).toMatchObject({ out: expect.stringMatching(/^no entries/) });
  });

  it('refuses a day that does not exist, and a reason that cannot be kept', async () => {
    expect(await run('audit', '--day', '2026-02-30')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/Give a day/),
    });
    expect(await run('doctor', '--reason', 'x')).toMatchObject({ code: 2, err: '--reason needs --repair\n' });
    expect(await run('fleet', 'drain', 'f', 'n', '--table', 'their-table', '--reason', 'x')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/has no audit trail/),
    });
    expect(await run('cancel', 'a', '--reason', 'x'.repeat(201))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/reason must be well-formed text of 1 to 200 characters/),
    });
  });
});
