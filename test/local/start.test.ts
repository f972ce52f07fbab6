import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RESTARTS_A_MINUTE } from '../../tools/local/keep-running.ts';
import { readLocalFile } from '../../tools/local/local-folder.ts';
import { itAtLength } from '../at-length.ts';
import { listen } from '../console/listen.ts';
import { eventually } from '../end-to-end/flow.ts';
import { operationAt } from '../end-to-end/operations.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { freePorts } from '../factories/free-ports.ts';
import { killEngine, RESTARTED } from './kill-engine.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');
const CONFIG = {
  operations: {
    ship: {
      target: ['depot'],
      batch: { maxWait: '1m' },
      downstream: { kind: 'http', url: 'http://127.0.0.1:9/batch?key=s3cret' },
    },
  },
};

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

describe('npm start', () => {
  let folder: string;
  const ends: (() => void)[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-start-'));
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify(CONFIG));
  });
  afterEach(() => {
    for (const end of ends.splice(0)) end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts it; `ended` resolves at its end, with its whole output. */
  const start = (...args: string[]) => startIn(folder, ...args);
  const startIn = (cwd: string, ...args: string[]) => {
    const child = spawn(NODE, [join(ROOT, 'tools/local/main.ts'), ...args], { cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        output += String(data);
      });
    ends.push(() => child.kill('SIGKILL'));
    const ended = new Promise<Ended>((resolve) => child.once('exit', (code) => resolve({ code, output })));
    const ready = eventually(() => readLocalFile(folder)?.pid === child.pid);
    ready.catch(() => {});
    return { child, ended, ready, said: () => output };
  };

  it('stops at an invalid configuration, and prints the path and the fix', async () => {
    writeFileSync(
      join(folder, 'groupage.config.json'),
      '{"operations":{"ship":{"target":["depot"],"batch":{"maxWiat":"1s"},"downstream":{"kind":"http","url":"here"}}}}',
    );
    const { code, output } = await start('--port', '0').ended;
    expect(code).toBe(1);
    expect(output).toContain('operations.ship.batch.maxWiat is unknown; did you mean "maxWait"?');
    expect(output).toContain('operations.ship.downstream.url must be an http or https URL such as');
    expect(output).not.toContain('    at ');
  });

  it('names a port that is in use', async () => {
    const lowest = await freePorts();
    const port = lowest + 2;
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    ends.push(() => taken.close());
    for (const first of [port, port - 1, lowest]) {
      const { code, output } = await start('--port', String(first), '--ephemeral').ended;
      expect([code, output]).toEqual([1, expect.stringContaining(`port ${port} is in use by another program`)]);
      expect(output).toContain('Choose other ports: npm start -- --port N');
      expect(output).not.toContain('    at ');
    }
  });

  it('reports a folder that it may not write', async () => {
    // A file in place of the folder, not permissions: root may write everywhere.
    writeFileSync(join(folder, '.groupage'), 'a file where the folder should be');
    const { code, output } = await start('--port', '0').ended;
    expect([code, output]).toEqual([1, expect.stringMatching(/\.groupage.*--ephemeral/s)]);
    const { child, ended, said } = start('--port', '0', '--ephemeral');
    await eventually(() => said().includes('Add this option to each command: --api http'));
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('names services that it cannot call, and says what to set', async () => {
    const operations = {
      invoked: { target: ['depot'], downstream: { kind: 'lambda', function: 'parcels' } },
      again: { target: ['depot'], downstream: { kind: 'lambda', function: 'other' } },
      signed: {
        target: ['depot'],
        downstream: { kind: 'http', url: 'http://127.0.0.1:9/', secret: { ssm: '/parcels/signing' } },
      },
    };
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations }));
    const { child, ended, ready, said } = start('--port', '0');
    await ready;
    await eventually(() => said().includes('Ctrl-C'));
    expect(said().match(/^! .*/gm)).toEqual([
      '! the local stack has no functions of its own. Set AWS_ENDPOINT_URL_LAMBDA to the URL of an emulator. Until then, calls to Lambda functions fail',
      '! a secret is missing. Until you set GROUPAGE_SECRET_PARCELS_SIGNING, calls that need this secret fail',
    ]);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('runs once in a folder', async () => {
    const first = start('--port', '0');
    await first.ready;
    const { code, output } = await start('--port', '0').ended;
    expect([code, output]).toEqual([1, expect.stringContaining('already runs in this folder')]);
    first.child.kill('SIGINT');
    expect((await first.ended).code).toBe(0);
  });

  itAtLength('refuses a second start while it drains', async () => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const downstream = await startTestDownstream(async () => {
      await asked;
      return { status: 200 };
    });
    try {
      const operation = {
        ...operationAt(downstream.url, { batch: { maxWait: '0ms' } }),
        downstream: { kind: 'http', url: downstream.url, timeout: '60s' },
      };
      writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { ship: operation } }));
      const first = start('--port', '0');
      await first.ready;
      const body = JSON.stringify({ operation: 'ship', payload: { depot: 'A' } });
      await fetch(`${readLocalFile(folder)?.api}/tasks`, { method: 'POST', body });
      await eventually(() => downstream.calls.length === 1);
      first.child.kill('SIGINT');
      await eventually(() => readLocalFile(folder) === undefined);
      const { code, output } = await start('--port', '0').ended;
      expect([code, output]).toEqual([1, expect.stringContaining('already runs in this folder')]);
      answer();
      expect((await first.ended).code).toBe(0);
      expect(downstream.calls).toHaveLength(1);
    } finally {
      await downstream.stop();
    }
  });

  itAtLength('starts beside the file of a killed run, and beside a truncated file', async () => {
    mkdirSync(join(folder, '.groupage'));
    for (const left of ['{"api":"http://127.0.0.1:1/v1","pid":1}', '{"api":']) {
      writeFileSync(join(folder, '.groupage', 'local.json'), left);
      const { child, ended, ready } = start('--port', '0');
      await ready;
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
    }
  });

  itAtLength('warns of tasks whose operation was removed', async () => {
    const first = start('--port', '0');
    await first.ready;
    const api = readLocalFile(folder)?.api;
    const payload = { operation: 'ship', payload: { depot: 'A' } };
    await fetch(`${api}/tasks`, { method: 'POST', body: JSON.stringify(payload) });
    await eventually(async () => (await (await fetch(`${api}/targets`)).text()).includes('"waiting":1'));
    first.child.kill('SIGINT');
    await first.ended;
    const { ship } = CONFIG.operations;
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { other: ship } }));
    const second = start('--port', '0');
    await second.ready;
    second.child.kill('SIGINT');
    expect((await second.ended).output).toMatch(
      /! 1 Target of ship has tasks, but the operation is not configured\. .* Configure it again and restart: they continue/,
    );
  });

  itAtLength('warns of batches whose operation was removed, and continues them once it is back', async () => {
    let answers = false;
    const downstream = await startTestDownstream(() => (answers ? { status: 200 } : { status: 503 }));
    ends.push(() => void downstream.stop());
    const ship = {
      target: [],
      batch: { maxWait: '0s' },
      retry: { immediate: 0 },
      circuit: null,
      downstream: { kind: 'http', url: downstream.url },
    };
    const configure = (operations: object) =>
      writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations }));
    const statusOf = async () =>
      ((await (await fetch(`${readLocalFile(folder)?.api}/tasks/kept`)).json()) as { status: string }).status;
    configure({ ship });
    const first = start('--port', '0');
    await first.ready;
    const body = JSON.stringify({ operation: 'ship', payload: {}, id: 'kept' });
    await fetch(`${readLocalFile(folder)?.api}/tasks`, { method: 'POST', body });
    await eventually(async () => ['batched', 'in-progress'].includes(await statusOf()));
    first.child.kill('SIGINT');
    await first.ended;
    configure({ other: ship });
    const second = start('--port', '0');
    await second.ready;
    second.child.kill('SIGINT');
    expect((await second.ended).output).toMatch(/! 1 batch of ship has not ended, but the operation is not configured/);
    answers = true;
    configure({ ship });
    const third = start('--port', '0');
    await third.ready;
    await eventually(async () => (await statusOf()) === 'succeeded');
    third.child.kill('SIGINT');
    await third.ended;
  });

  itAtLength('continues the metrics of the console after a restart, but not with --ephemeral', async () => {
    const file = join(folder, '.groupage', 'metrics.json');
    const totals = async (): Promise<unknown> => {
      const page = await listen(readLocalFile(folder)?.console ?? '', []);
      const found = await eventually(() => page.last('metrics')?.totals);
      await page.close();
      return found;
    };
    const run = async (...args: string[]): Promise<unknown> => {
      const { child, ended, ready, said } = start('--port', '0', ...args);
      await ready;
      const found = await totals();
      const body = JSON.stringify({ operation: 'ship', payload: { depot: 'A' } });
      await fetch(`${readLocalFile(folder)?.api}/tasks`, { method: 'POST', body });
      await eventually(async () => JSON.stringify(await totals()).includes('"tasksRegistered"'));
      child.kill('SIGINT');
      expect((await ended).code).toBe(0);
      expect(said()).not.toContain('metrics.json');
      return found;
    };
    const first = await run();
    expect(first).toMatchObject({ operations: [] });
    const kept = readFileSync(file, 'utf8');
    expect(await run('--ephemeral')).toMatchObject({ operations: [] });
    expect(readFileSync(file, 'utf8')).toBe(kept);
    expect(await run()).toMatchObject({
      ...(first as object),
      operations: [{ operation: 'ship', tasksRegistered: 1 }],
    });
    writeFileSync(file, '{"of":"another program"}');
    const { child, ended, ready } = start('--port', '0');
    await ready;
    child.kill('SIGINT');
    expect((await ended).output).toMatch(/^.* ! .*metrics\.json has no metrics that this release can read/m);
  });

  it('restarts a killed engine with its data', async () => {
    const { child, ended, ready, said } = start('--port', '0');
    await ready;
    const api = readLocalFile(folder)?.api;
    const body = JSON.stringify({ operation: 'ship', payload: { depot: 'A' }, id: 'kept' });
    await fetch(`${api}/tasks`, { method: 'POST', body });
    const isThere = async (): Promise<boolean> => (await fetch(`${api}/tasks/kept`)).ok;
    await eventually(isThere);
    expect(await killEngine(folder)).toBe(true);
    await eventually(() => said().includes(`crashed (SIGKILL) and ${RESTARTED}`));
    await eventually(isThere);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('ends with a message if its engine is killed repeatedly', async () => {
    const { child, ended, ready, said } = start('--port', '0');
    await ready;
    for (let kills = 1; kills <= RESTARTS_A_MINUTE; kills += 1) {
      expect(await killEngine(folder)).toBe(true);
      await eventually(() => said().split(RESTARTED).length > kills);
    }
    expect(await killEngine(folder)).toBe(true);
    const { code, output } = await ended;
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/crashed 4 times within a minute.*is kept.*Start Groupage again/),
    ]);
    expect(child.exitCode).toBe(1);
    expect(readLocalFile(folder)).toBeUndefined();
  });

  it('ends with a message if an engine with its data in memory is killed', async () => {
    const { child, ended, ready } = start('--port', '0', '--ephemeral');
    await ready;
    expect(await killEngine(child)).toBe(true);
    const { code, output } = await ended;
    expect([code, output]).toEqual([1, expect.stringMatching(/crashed \(SIGKILL\)\. Its data was in memory/)]);
  });

  it('prints its usage', async () => {
    expect(await start('--help').ended).toMatchObject({ code: 0, output: expect.stringContaining('--ephemeral') });
    expect(await start('--prot', '1').ended).toMatchObject({
      code: 2,
      output: expect.stringContaining("Unknown option '--prot'"),
    });
    expect(await start('--port', 'x').ended).toMatchObject({
      code: 2,
      output: expect.stringContaining('--port takes a number'),
    });
    expect(await start('--config', 'none.json').ended).toMatchObject({
      code: 1,
      output: expect.stringContaining('none.json'),
    });
  });

  it("prints the console's address first, and builds the page if needed", async () => {
    const { child, ended, ready } = start('--port', '0', '--ephemeral');
    await ready;
    const { console: site = '', api } = readLocalFile(folder) ?? {};
    expect(await (await fetch(site)).text()).toContain('<groupage-console>');
    child.kill('SIGTERM');
    const { output } = await ended;
    expect(output).toMatch(new RegExp(`\\n\\n  Console   ${site}\\n  API       ${api}\\n`));
  });

  it("prints the downstream's address without its query, which may contain a key", async () => {
    const { child, ended, ready } = start('--port', '0', '--ephemeral');
    await ready;
    child.kill('SIGTERM');
    const { output } = await ended;
    expect(output).toContain('ship → http://127.0.0.1:9/batch\n');
    expect(output).not.toContain('s3cret');
  });

  it('with --ephemeral leaves no data behind', async () => {
    mkdirSync(join(folder, '.groupage'));
    const { child, ended, ready } = start('--port', '0', '--ephemeral');
    await ready;
    child.kill('SIGTERM');
    await ended;
    const { stdout } = await promisify(execFile)('ls', ['-A', join(folder, '.groupage')]);
    expect(stdout).toBe('.gitignore\n');
  });

  it('hides its folder from git, and keeps a file that is there', async () => {
    const file = join(folder, '.groupage', '.gitignore');
    for (const text of ['*\n', 'mine\n']) {
      const { child, ended, ready } = start('--port', '0');
      await ready;
      expect(readFileSync(file, 'utf8')).toBe(text);
      child.kill('SIGINT');
      await ended;
      writeFileSync(file, 'mine\n');
    }
  });

  it.each([['tools/local/main.ts'], ['bin/groupage.ts', 'dev']])(
    '%s ends at Ctrl-C while it starts',
    async (...args) => {
      // The signal arrives as soon as the program handles signals.
      const hook = `process.once('newListener', () => setImmediate(() => process.kill(process.pid, 'SIGINT')));`;
      const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
      const [program = '', ...rest] = args;
      const child = spawn(NODE, ['--import', preload, join(ROOT, program), ...rest], { cwd: folder });
      const printed = await Promise.all([child.stdout, child.stderr].map((stream) => stream.toArray()));
      expect([printed.flat().join(''), readLocalFile(folder)]).toEqual(['Stopped.\n', undefined]);
    },
  );

  itAtLength('moves the downstream of the example, and names its port if that is in use', async () => {
    rmSync(join(folder, 'groupage.config.json'));
    const port = await freePorts();
    const args = ['--port', '0', '--example-port', String(port)];
    const { child, ended, ready, said } = start(...args);
    await ready;
    await eventually(() => said().includes('Ctrl-C'));
    expect(said()).toContain(`report-flights → http://127.0.0.1:${port}/batch`);
    const body = JSON.stringify({
      operation: 'report-flights',
      payload: { origin: 'MUC', destination: 'JFK', delay: 12 },
    });
    await fetch(`${readLocalFile(folder)?.api}/tasks`, { method: 'POST', body });
    await eventually(() => said().includes('→ downstream: 1 of MUC accepted'));
    const other = join(folder, 'other');
    mkdirSync(other);
    const { code, output } = await startIn(other, ...args).ended;
    expect([code, output]).toEqual([1, expect.stringContaining(`cannot use port ${port}`)]);
    expect(output).toContain('npm start -- --example-port N');
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });
});
