import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { groupage } from './groupage.ts';

describe('work under way', () => {
  let flow: LocalFlow;
  let folder: string;
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await groupage(folder, args);
    return { code, err, lines: out.trimEnd().split('\n') };
  };
  beforeAll(async () => {
    flow = await startLocalFlow({
      batch: { maxSize: 3, maxWait: '1s' },
      circuit: null,
      retry: { maxAttempts: 50 },
    });
    flow.downstream.behave(() => ({ status: 429, body: 'ask later' }));
    folder = mkdtempSync(join(tmpdir(), 'groupage-under-way-'));
    writeLocalFile(folder, flow.stack.addresses);
    for (const n of [0, 1, 2, 3]) await groupage(folder, ['send', 'ship', '{"depot":"MUC"}', '--id', `retried-${n}`]);
    await eventually(async () => (await run('operations')).lines.some((line) => /4 tasks retried/.test(line)));
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows tasks that are retried, with the reason, in operations and Targets', async () => {
    expect((await run('operations')).lines[1]).toMatch(
      /^ship .* 4 +4 tasks retried after up to \d+ attempts? \(answered 429\)/,
    );
    const sorted = await run('targets', '--sort', 'retried');
    expect(sorted.lines).toHaveLength(2);
    expect(sorted.lines[1]).toMatch(/^ship\/depot=MUC +0 .* 4 .*4 tasks retried .*answered 429/);
    expect((await run('targets', '--sort', 'waiting')).lines).toEqual(['no Target matches --sort waiting']);
    expect((await run('targets', '--search', 'muc')).lines).toHaveLength(2);
    expect((await run('targets', '--search', 'JFK')).lines).toEqual(['no Target contains JFK']);
  });

  it('lists the tasks and batches, and shows one batch with its calls', async () => {
    const tasks = await run('tasks', '--status', 'in-progress', '--operation', 'ship');
    expect(tasks.lines.slice(1).map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['retried-0', 'retried-1', 'retried-2', 'retried-3']),
    );
    expect(tasks.err).toMatch(/^Only batches under way are included/);
    const ofTarget = await run('tasks', '--status', 'in-progress', '--target', 'ship/depot=MUC');
    expect(ofTarget.lines).toHaveLength(5);
    expect(ofTarget.lines[1]).toContain('answered 429: ask later');
    const batches = await run('batches', '--under-way');
    expect(batches.lines).toHaveLength(3);
    const [id = ''] = batches.lines[1]?.split(' ') ?? [];
    const one = await run('batches', id);
    expect(one.lines.find((line) => /^ *1 /.test(line))).toMatch(/all \d .* yes +answered 429: ask later$/);
    expect((await run('tasks', '--batch', id)).lines[1]).toMatch(/^retried-\d .* in-progress/);
    expect((await run('batches', '--operation', 'ship')).lines).toHaveLength(3);
  });

  it('refuses options that contradict each other', async () => {
    for (const args of [
      ['tasks', '--operation', 'ship'],
      ['tasks', '--batch', 'x', '--status', 'failed'],
      ['batches', 'x#1#1', '--under-way'],
      ['batches', '--target', 'x', '--operation', 'ship'],
    ])
      expect([args, (await run(...args)).code]).toEqual([args, 2]);
    expect((await run('batches', 'ship/x#1#1')).err).toContain('there is no batch');
  });
});
