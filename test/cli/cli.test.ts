import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { ACTED_UPON, actedUponIn } from '../factories/terminal.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { groupage, NODE, type Ran, ROOT } from './groupage.ts';

describe('the command line', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-cli-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: readonly string[], input = '', cwd = folder): Promise<Ran> => groupage(cwd, args, input);

  it('sends a task, and shows its state and result', async () => {
    const sent = await run(['send', 'ship', '{"depot":"CLI","n":12345678901234567890}', '--correlation-id', 'order-7']);
    expect(sent.code).toBe(0);
    const id = sent.out.trim();
    const status = await run(['status', id, '--wait']);
    expect(status).toMatchObject({ code: 0, err: '' });
    expect(status.out).toMatch(/status\s+succeeded/);
    expect(status.out).toContain('{"depot":"CLI","n":12345678901234567890}');
    expect(status.out).toContain('order-7');
    const json = await run(['status', id, '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ id, status: 'succeeded', batchId: 'ship/depot=CLI#1#1' });
  });

  it('ends quietly if its output is closed', async () => {
    const child = spawn(NODE, [join(ROOT, 'bin/groupage.ts'), '--help'], { cwd: folder });
    child.stdout.destroy();
    const err: string[] = [];
    child.stderr.on('data', (data) => err.push(String(data)));
    await new Promise((resolve) => child.on('close', resolve));
    expect(err.join('')).toBe('');
  });

  it('sends the lines of a file or of stdin, and names refused lines', async () => {
    const lines = ['{"depot":"FILE","n":1}', '', '{"depot":', '{"n":3}', '{"depot":"FILE","n":4}'];
    writeFileSync(join(folder, 'payloads.jsonl'), lines.join('\n'));
    const fromFile = await run(['send', 'ship', '--file', 'payloads.jsonl']);
    expect(fromFile).toEqual({
      code: 1,
      out: '2 sent, 2 refused\n',
      err: expect.stringMatching(/line 3: is not JSON.*\nline 4: payload\.depot is missing/),
    });
    const messages =
      '{"operation":"ship","id":"from-stdin","payload":{"depot":"STDIN"}}\n{"operation":"none","payload":{}}\n';
    const fromInput = await run(['send', '--file', '-', '--json'], messages);
    expect(fromInput.code).toBe(1);
    expect(JSON.parse(fromInput.out)).toMatchObject({
      ids: ['from-stdin'],
      refused: [{ line: 2, reason: expect.stringContaining('operation is unknown') }],
    });
    expect((await run(['status', 'from-stdin', '--wait'])).code).toBe(0);
    const twice = [1, 2].map((n) => JSON.stringify({ operation: 'ship', id: 'twice', payload: { depot: 'TWICE', n } }));
    expect(await run(['send', '--file', '-'], `\n\n${twice.join('\n')}`)).toEqual({
      code: 1,
      out: '1 sent, 1 refused\n',
      err: 'line 4: id is also the id of line 3, which has a different operation, payload or fanOutItem\n',
    });
  });

  it('splits lines into several requests, and ignores a byte order mark', async () => {
    const large = Array.from({ length: 40 }, (_, n) =>
      JSON.stringify({ depot: 'LARGE', n, text: 'x'.repeat(200_000) }),
    );
    writeFileSync(join(folder, 'large.jsonl'), `\ufeff${large.join('\n')}`);
    expect(await run(['send', 'ship', '--file', 'large.jsonl'])).toEqual({
      code: 0,
      out: '40 sent, 0 refused\n',
      err: '',
    });
  });

  it('refuses a payload that contains other fields', async () => {
    const sneaky = '{"depot":"CLI"},"id":"evil"';
    expect(await run(['send', 'ship', sneaky])).toMatchObject({ code: 1, err: expect.stringContaining('is not JSON') });
    const { out } = await run(['send', 'ship', '--file', '-', '--json'], `${sneaky}\n[1]\n`);
    expect(JSON.parse(out)).toMatchObject({
      ids: [],
      refused: [{ line: 1 }, { line: 2, reason: 'must be a JSON object' }],
    });
  });

  it('reports how many lines were sent when it is stopped', async () => {
    const directory = await run(['send', 'ship', '--file', '.']);
    expect(directory).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is a folder') });
    expect(directory.err).not.toContain('    at ');
    const child = spawn(NODE, [join(ROOT, 'bin/groupage.ts'), 'send', 'ship', '--file', '-', '--json'], {
      cwd: folder,
    });
    const out: string[] = [];
    child.stdout.on('data', (data) => out.push(String(data)));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const lines = Array.from({ length: 1_001 }, (_, n) => `{"depot":"STOPPED","n":${n}}\n`);
    child.stdin.write(lines.join(''));
    // A set: on a slow machine a call may be repeated.
    const arrived = (): Set<string> =>
      new Set(
        flow.downstream.calls.flatMap(({ target, items }) =>
          target.includes('STOPPED') ? items.map(({ id }) => id) : [],
        ),
      );
    await eventually(() => arrived().size === 1_000);
    await setTimeout(500);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(JSON.parse(out.join(''))).toMatchObject({ stopped: 'interrupted', upToLine: 1_000 });
  });

  it('prints texts of tasks without control characters', async () => {
    const { out } = await run(['send', 'ship', '{"depot":"ESC"}', '--correlation-id', 'a\u001b[2Jb\nc']);
    const { out: shown } = await run(['status', out.trim(), '--wait']);
    expect(shown).toContain('a\ufffd[2Jb\ufffdc');
  });

  it('prints payloads, results and errors without terminal codes, also as JSON', async () => {
    // Characters stay as they are where JSON allows them: all but the first 32.
    const text = JSON.stringify(ACTED_UPON);
    const answer = (fails: unknown): string =>
      fails ? `"status":"failed","error":{"code":${text},"message":${text}}` : `"status":"succeeded","result":${text}`;
    flow.downstream.behave(({ items }) => ({
      status: 200,
      body: `{"results":[${items.map(({ id, payload }) => `{"id":"${id}",${answer(payload.fails)}}`).join(',')}]}`,
    }));
    const payloads = [`{"depot":${text},"fails":true}`, `{"depot":${text},"odd":${text}}`];
    const sent = await run(['send', 'ship', '--file', '-', '--json'], payloads.join('\n'));
    const [failed, succeeded] = (JSON.parse(sent.out) as { ids: [string, string] }).ids;
    const shown = [
      await run(['status', failed, '--wait']),
      await run(['status', succeeded, '--wait']),
      await run(['tasks', '--status', 'failed']),
      await run(['status', succeeded, '--json']),
    ];
    expect(shown.map(({ code, out, err }) => [code, actedUponIn(out + err)])).toEqual([
      [1, []],
      [0, []],
      [0, []],
      [0, []],
    ]);
    expect(JSON.parse(shown[3]?.out ?? '')).toMatchObject({ payload: { odd: ACTED_UPON }, result: ACTED_UPON });
    flow.downstream.behave(() => ({ status: 200 }));
  });

  it('exits with status 1 if the awaited task fails or is unknown', async () => {
    flow.downstream.behave(({ target }) => ({
      status: target.includes('FAIL') ? 422 : 200,
      body: { error: 'closed' },
    }));
    const { out } = await run(['send', 'ship', '{"depot":"FAIL"}']);
    const failed = await run(['status', out.trim(), '--wait']);
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/refused: answered 422: \{"error":"closed"\}/);
    expect((await run(['tasks', '--status', 'failed'])).out).toContain(out.trim());
    expect(await run(['status', 'nobody', '--wait', '--timeout', '0.5'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('nobody'),
    });
    expect(await run(['status', 'nobody'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no task "nobody"'),
    });
  });

  it('shows the time of the next attempt', async () => {
    flow.downstream.behave(({ target }) =>
      target.includes('LATER') ? { status: 503, body: 'no room', headers: { 'retry-after': '900' } } : { status: 200 },
    );
    const { out: id } = await run(['send', 'ship', '{"depot":"LATER"}']);
    await eventually(async () => (await flow.task(id.trim()))?.nextAttemptAfter !== undefined);
    const { out } = await run(['status', id.trim()]);
    expect(out).toMatch(
      /\nattempts +1\nnext attempt +\d{4}-\S+Z \(in \d+ min\)\nlast attempt +answered 503: no room\n/,
    );
  });

  it('lists Targets, batches and tasks', async () => {
    const targets = await run(['targets']);
    expect(targets.out).toMatch(/TARGET\s+WAITING\s+OLDEST\s+IN BATCHES\s+LEADER/);
    expect(targets.out).toContain('ship/depot=CLI');
    const searched = await run(['targets', '--operation', 'ship', '--prefix', 'depot=CL', '--json']);
    expect(JSON.parse(searched.out)).toMatchObject({ targets: [{ target: 'ship/depot=CLI' }] });
    const none = await run(['targets', '--operation', 'ship', '--prefix', 'depot=cl']);
    expect(none.out).toBe('no Target begins with ship/depot=cl\n');
    const batches = await run(['batches', '--target', 'ship/depot=CLI']);
    expect(batches.out).toMatch(/ship\/depot=CLI#1#1\s+succeeded\s+waited\s+1\s+10%/);
    expect(JSON.parse((await run(['batches', '--json'])).out).batches.length).toBeGreaterThan(2);
    const some = await run(['batches', '--limit', '1', '--json']);
    expect(JSON.parse(some.out)).toEqual({ batches: [expect.anything()], more: true });
    expect((await run(['batches', '--limit', '1'])).err).toContain('and more');
    expect((await run(['targets', '--limit', '90'])).err).toBe('');
    expect((await run(['tasks'])).out).toBe('no waiting tasks\n');
  });

  it('prints one snapshot for watch without a terminal', async () => {
    const { code, out } = await run(['watch']);
    expect(code).toBe(0);
    expect(out).toMatch(/waiting in \d+ Targets/);
    expect(out).toMatch(/ship\/depot=CLI .*succeeded/);
    expect(JSON.parse((await run(['watch', '--json'])).out).rows.length).toBeGreaterThan(2);
  });

  it('checks a configuration', async () => {
    expect((await run(['check', join(ROOT, 'examples/flights/groupage.config.ts')])).out).toContain(
      'The configuration is valid.',
    );
    const url = 'https://parcels.example/batch';
    const keyed = {
      operations: { ship: { target: ['depot'], downstream: { kind: 'http', url: `${url}?key=s3cret` }, rateLimit: 5 } },
    };
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(keyed));
    for (const args of [['check'], ['check', '--json']]) {
      const { code, out } = await run(args);
      expect([code, out.includes(url), out.includes('s3cret')]).toEqual([0, true, false]);
    }
    expect((await run(['check'])).out).toContain('\n\nship: at most 5 calls per second\n\nThe configuration is valid.');
    const large = { operations: { ship: { ...keyed.operations.ship, batch: { maxSize: 1_000 } } } };
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(large));
    expect((await run(['check'])).out).toMatch(
      /\n\nHint: ship: a response may have 6 MB, .*\n\nThe configuration is valid\./,
    );
    writeFileSync(join(folder, 'groupage.config.json'), '{"operations":{"ship":{"target":"depot"}}}');
    const broken = await run(['check']);
    expect(broken).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('operations.ship.target must be a list of payload fields, [] for none, not "depot"'),
    });
  });

  it('exits with status 2 for wrong usage, and 1 for a failure, with the reason', async () => {
    for (const args of [
      ['sned'],
      ['send'],
      ['send', 'ship'],
      ['status'],
      ['tasks', '--status', 'odd'],
      ['watch', '--every', 'x'],
      ['targets', '--limit', '0'],
      ['targets', '--prefix', 'depot=CL'],
      ['send', 'ship', '{}', '--file', 'x'],
      ['status', ''],
      ['redrive', '--target', 'a', '--target', 'b'],
      ['check', '--json', '--json'],
      ['tasks', '--api', 'http://127.0.0.1:1/v1', '--api=http://127.0.0.1:2/v1'],
    ]) {
      const { code, out, err } = await run(args);
      expect([args, code, out]).toEqual([args, 2, '']);
      expect(err).not.toBe('');
    }
    expect(await run(['status'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^groupage status shows one task, so it needs the id of the task: groupage status ID\. /,
      ),
    });
    expect(await run(['send', 'none', '{}'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('configured are ship'),
    });
    expect(await run(['targets', '--api', 'http://127.0.0.1:9/v1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not respond'),
    });
    expect(await run(['targets', '--api', 'nonsense'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--api takes an http or https URL'),
    });
    for (const url of ['ftp://127.0.0.1/v1', 'http://user:s3cret@127.0.0.1:9/v1', 'http://127.0.0.1:9/v1?key=s3cret']) {
      const { code, err } = await run(['targets', '--api', url]);
      expect([code, err]).toEqual([2, expect.stringContaining('--api takes an http or https URL')]);
      expect(err).not.toContain('s3cret');
    }
    expect(await run(['targets'], '', tmpdir())).toMatchObject({
      code: 1,
      err: expect.stringContaining('no local stack of yours runs'),
    });
    expect((await run(['--help'])).out).toContain('watch Targets live');
  });
});
