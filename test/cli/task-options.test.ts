import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

describe('groupage with task options', () => {
  let served: FakeApi;
  let folder: string;
  beforeAll(async () => {
    served = await fakeApi();
    folder = temporaryFolder('wishes');
  });
  afterAll(() => served.close());

  const run = (...args: string[]) => groupage(folder, [...args, '--api', served.url]);
  const TASK_OPTIONS = ['--priority', '9', '--weight', '0.5', '--expires-in', '10m', '--callback', 'ops'];
  const wishes = { priority: 9, weight: 0.5, expiresIn: '10m', callback: 'ops' };
  /** Options that only a single task can have. */
  const OWN = ['--coalesce-key', 'k', '--fan-out-item', 'f:0:1'];
  const own = { coalesceKey: 'k', fanOutItem: 'f:0:1' };
  /** The command makes an id if none was given, so that a repetition can use the same. */
  const ID = expect.stringMatching(/^[0-9A-Z]{26}(-00000000[12])?$/);
  const sent = () => served.asked.map((asked) => JSON.parse(asked.slice(asked.indexOf('{'))) as unknown);

  it('sends the given options with one task, and no others', async () => {
    served.answer({ 'POST /tasks': { ids: ['t-1'] } });
    expect(await run('send', 'ship', '{"n":1}', ...TASK_OPTIONS, ...OWN)).toMatchObject({ code: 0, err: '' });
    expect((await run('send', 'ship', '{"n":2}', '--priority', '0')).code).toBe(0);
    expect(sent()).toEqual([
      { operation: 'ship', id: ID, ...wishes, ...own, payload: { n: 1 } },
      { operation: 'ship', id: ID, priority: 0, payload: { n: 2 } },
    ]);
  });

  it('sends options with payloads of a file, but not with messages', async () => {
    served.answer({ 'POST /tasks': { ids: ['t-1', 't-2'] } });
    writeFileSync(join(folder, 'payloads'), '{"n":1}\n{"n":2}\n');
    expect((await run('send', 'ship', '--file', 'payloads', ...TASK_OPTIONS)).code).toBe(0);
    const whole = { operation: 'ship', payload: { n: 3 }, ...own, priority: 1 };
    writeFileSync(join(folder, 'messages'), JSON.stringify(whole));
    expect((await run('send', '--file', 'messages')).code).toBe(0);
    expect(sent()).toEqual([
      { tasks: [1, 2].map((n) => ({ operation: 'ship', id: ID, ...wishes, payload: { n } })) },
      { tasks: [{ id: ID, ...whole }] },
    ]);
  });

  it('refuses options that cannot apply to its input', async () => {
    served.answer({});
    for (const [args, err] of [
      [['--file', 'messages', '--priority', '1'], 'each line is a whole message and has its own "priority"'],
      [['ship', '--file', 'payloads', '--coalesce-key', 'k'], '--coalesce-key is for one task'],
      [['ship', '--file', 'payloads', '--fan-out-item', 'f:0:1'], '--fan-out-item is for one task'],
      [['ship', '{}', '--priority', 'high'], 'Give a number.'],
      [['ship', '{}', '--weight', ''], 'Give a number.'],
      [['ship', '{}', '--weight', '1e400'], 'Give a number.'],
    ] as const)
      expect(await run('send', ...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(err) });
    expect(served.asked).toEqual([]);
  });

  it('shows the options of a task', async () => {
    const task = { id: 't-1', operation: 'ship', target: 'ship', status: 'created', attempts: 0, payload: {} };
    const startBy = new Date(Date.now() + 600_000).toISOString();
    const createdAt = new Date().toISOString();
    served.answer({ 'GET /tasks/t-1': { ...task, createdAt, ...wishes, ...own, coalesceKey: 'k\u001b[2J', startBy } });
    const { out } = await run('status', 't-1');
    expect(out).toMatch(/^priority +9 of 9$/m);
    expect(out).toMatch(/^weight +0\.5$/m);
    expect(out).toMatch(/^key +k\ufffd\[2J$/m);
    expect(out).toMatch(/^callback +ops$/m);
    expect(out).toMatch(/^fan-out item +f:0:1$/m);
    expect(out).toMatch(/^start by +\S+ \(in \d+ min\)$/m);
    served.answer({
      'GET /tasks/t-1': { ...task, createdAt, status: 'succeeded', supersededBy: 't-2', startBy: createdAt },
    });
    const superseded = await run('status', 't-1');
    expect(superseded.out).toMatch(/^superseded +by the newer task t-2, which runs instead$/m);
    expect(superseded.out).toMatch(/^start by +\S+ \(over\)$/m);
    served.answer({ 'GET /tasks/t-1': { ...task, createdAt } });
    expect((await run('status', 't-1')).out).not.toMatch(
      /^(?:priority|weight|key|callback|fan-out item|start by|superseded) /m,
    );
  });
});
