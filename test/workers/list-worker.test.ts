/** `groupage lists worker` with real processes, on the HTTP API. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { createListClient } from '../../src/client/lists.ts';
import { groupageProcess, NODE } from '../cli/groupage.ts';
import { type ServedApi, servedApi } from '../client/served-api.ts';
import { eventually } from '../end-to-end/flow.ts';
import { LANGUAGES, livingIn, notesIn, useWorker, withFolder } from './languages.ts';

/** A sealed list, and the command that works on it. */
const listOf = async (served: ServedApi, payloads: readonly Record<string, unknown>[], maxDeliveries = 2) => {
  const list = await createListClient({ api: served.url }).createList({ maxDeliveries });
  await list.add(payloads);
  await list.seal();
  const folder = temporaryFolder('workers');
  const start = (command: readonly string[], ...options: string[]) =>
    groupageProcess(
      folder,
      ['lists', 'worker', list.id, '--api', served.url, ...options, '--', ...command],
      '',
      withFolder(folder),
    );
  const outcomes = async () => {
    const all = [];
    for await (const job of list.jobs()) all.push(job);
    return all;
  };
  return { list, folder, start, outcomes };
};

describe.each(LANGUAGES)('a worker in %s', (language) => {
  const command = useWorker(language, 'jobs');
  let served: ServedApi;
  beforeAll(async () => {
    served = await servedApi();
  });
  afterAll(() => served.stop());

  it('does all jobs; one that kills or silences it ends by its deliveries', async () => {
    const kinds = ['echo', 'fail', 'echo', 'throw', 'die', 'echo', 'silent', 'print', 'alive', 'echo'];
    const { start, outcomes, folder } = await listOf(
      served,
      kinds.map((kind, n) => ({ do: kind, n })),
    );
    const options = ['--concurrency', '3', '--count', '4', '--timeout', '5', '--json'];
    const { code, out, err } = await start(command(), ...options);
    expect({ code, end: JSON.parse(out) }).toMatchObject({
      code: 0,
      end: { ended: 'complete', succeeded: 6, failed: 4 },
    });
    const error = (code: string, message: string) => ({ status: 'failed', error: { code, message } });
    const mine = (n: number) => ({ status: 'succeeded', result: { n, deliveries: 1 } });
    expect(await outcomes()).toMatchObject([
      mine(0),
      error('no-depot', 'no such depot: Zürich'),
      mine(2),
      error('handler-error', expect.stringMatching(/^(RuntimeError: )?out of luck$/)),
      error('handler-error', 'the worker process ended with exit status 3'),
      mine(5),
      error('handler-error', expect.stringContaining('sent no message for 5 s, so it was killed')),
      { status: 'succeeded', result: 'printed' },
      { status: 'succeeded', result: 'still alive' },
      mine(9),
    ]);
    expect(err).toContain('a line for people');
    // The library keeps such lines from the standard output.
    expect(err.includes('print other text to standard error')).toBe(language === 'JavaScript');
    expect(err).toContain('job 1 has failed (no-depot): no such depot: Zürich\n');
    const died = 'the worker process ended with exit status 3';
    expect(err).toContain(`job 4, delivery 1 of 2: ${died}. The job is handed out again\n`);
    expect(err).toContain(`job 4, delivery 2 of 2: ${died}. This was its last delivery, so the job has failed\n`);
    expect(livingIn(folder)).toEqual([]);
  });

  it('may exit with 0 after each job, and no delivery counts', async () => {
    const kinds = Array.from({ length: 12 }, (_, n) => ({ do: 'last', n }));
    const { start, outcomes, folder } = await listOf(served, [...kinds, { do: 'quits', n: 12 }]);
    const options = ['--count', '13', '--timeout', '20', '--concurrency', '3'];
    expect(await start(command(), ...options)).toMatchObject({ code: 0 });
    // In each of its two deliveries it is begun at most twice.
    const begun = notesIn(folder).filter((line) => line === 'began 12').length;
    expect([2, 3, 4]).toContain(begun);
    expect(await outcomes()).toMatchObject([
      ...kinds.map(({ n }) => ({ status: 'succeeded', result: { n, deliveries: 1 } })),
      { status: 'failed', error: { message: 'the worker process ended with exit status 0' } },
    ]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('finishes its job after %s, and gives the others back', async (signal) => {
    const { start, outcomes, folder } = await listOf(
      served,
      Array.from({ length: 4 }, (_, n) => ({ do: 'slow', n, ms: 1_500 })),
    );
    const ran = start(command());
    await eventually(() => notesIn(folder).includes('began 0'));
    ran.child.kill(signal);
    const { code, out } = await ran;
    expect({ code, out }).toEqual({
      code: 0,
      out: 'stopped; jobs: succeeded 1, failed 0, released 3, lost 0; 1 claim\n',
    });
    const [first, ...others] = await outcomes();
    expect(first).toMatchObject({ status: 'succeeded', result: { slow: 0, stopped: true } });
    expect(others.map(({ status, deliveries }) => [status, deliveries])).toEqual(
      others.map(() => ['waiting', undefined]),
    );
  });

  it('is asked to stop if another worker may have its job, and gets the next job', async () => {
    const { list, start, outcomes, folder } = await listOf(served, [{ do: 'slow', n: 0, ms: 3_000 }]);
    const ran = start(command(), '--lease', '3', '--json');
    await eventually(() => notesIn(folder).includes('began 0'));
    const [claim] = await list.claims();
    await list.breakClaim(claim?.claim ?? '');
    const { code, out, err } = await ran;
    expect({ code, end: JSON.parse(out) }).toMatchObject({
      code: 0,
      end: { ended: 'complete', succeeded: 1, lost: 1 },
    });
    expect(err).toMatch(/^claim worker-\S+ is lost, with 1 job not done: the claim was broken, or/m);
    expect(notesIn(folder).filter((line) => line.startsWith('ended'))).toEqual(['ended 0 stopping', 'ended 0']);
    expect(await outcomes()).toMatchObject([{ status: 'succeeded', result: { stopped: false } }]);
  });

  it('ends when groupage is killed', async () => {
    const { start, folder } = await listOf(served, [{ do: 'slow', n: 0, ms: 3_600_000 }]);
    const ran = start(command());
    await eventually(() => notesIn(folder).includes('began 0'));
    expect(livingIn(folder)).toHaveLength(1);
    ran.child.kill('SIGKILL');
    await eventually(() => livingIn(folder).length === 0, 30_000);
    await ran;
  });

  it('is killed at a second Ctrl-C', async () => {
    const { start, folder } = await listOf(served, [{ do: 'slow', n: 0, ms: 3_600_000 }]);
    const ran = start(command());
    await eventually(() => notesIn(folder).includes('began 0'));
    ran.child.kill('SIGINT');
    await setTimeout(1_500);
    expect(livingIn(folder)).toHaveLength(1);
    ran.child.kill('SIGINT');
    expect(await ran).toMatchObject({ code: 130, err: expect.stringContaining('Stopped at once') });
    await eventually(() => livingIn(folder).length === 0, 5_000);
  });
});

describe('groupage lists worker', () => {
  let served: ServedApi;
  beforeAll(async () => {
    served = await servedApi();
  });
  afterAll(() => served.stop());
  const claimsOf = (id: string) => served.asked.filter(({ path }) => path.includes(`/lists/${id}/claims`));
  /** A worker that answers each job by this code, with `job` and `send`. */
  const answering = (code: string, before = '') => [
    NODE,
    '-e',
    `const send = (message) => console.log(JSON.stringify(message)); ${before}; send({ type: 'ready' });
    require('readline').createInterface({ input: process.stdin })
      .on('line', (line) => { const job = JSON.parse(line); if (job.type === 'job') { ${code} } })
      .on('close', () => process.exit());`,
  ];
  const messageOf = async (worker: readonly string[]) => {
    const { start, outcomes } = await listOf(served, [{ n: 0 }], 1);
    expect(await start(worker)).toMatchObject({ code: 0 });
    return (await outcomes())[0]?.error?.message;
  };

  it('claims nothing if the program cannot start', async () => {
    const { list, start } = await listOf(served, [{ n: 0 }]);
    expect(await start(['./nonesuch'])).toMatchObject({ code: 1, err: expect.stringContaining('no such program') });
    expect(await start([import.meta.filename])).toMatchObject({ code: 1, err: expect.stringContaining('chmod +x') });
    expect(await start([NODE, '-e', 'process.exit(4)'])).toMatchObject({
      code: 1,
      err: 'the worker process ended with exit status 4 (before its first message, {"type":"ready"})\n',
    });
    expect(await start([NODE, '-e', 'setTimeout(() => {}, 60_000)'], '--timeout', '1')).toMatchObject({
      code: 1,
      err: expect.stringContaining('sent no message for 1 s'),
    });
    expect(await start([])).toMatchObject({ code: 2, err: expect.stringContaining('after --') });
    expect(claimsOf(list.id)).toEqual([]);
  });

  it('starts the program without a shell', async () => {
    const { start, folder } = await listOf(served, [{ n: 0 }]);
    const argument = '$(touch made) *; touch made';
    const { err } = await start([NODE, '-e', 'console.error(process.argv[1])', argument]);
    expect(err).toContain(`${argument}\n`);
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });

  it('refuses options out of their range, and a list that does not exist', async () => {
    const { start } = await listOf(served, [{ n: 0 }]);
    const wrong = (...options: string[]) => start(answering(''), ...options);
    expect(await wrong('--concurrency', '65')).toMatchObject({ code: 2, err: expect.stringContaining('from 1 to 64') });
    expect(await wrong('--timeout', '0')).toMatchObject({ code: 2, err: expect.stringContaining('seconds from 1') });
    expect(await wrong('--holder', 'ü')).toMatchObject({ code: 2, err: expect.stringContaining('visible ASCII') });
    const none = await groupageProcess('.', ['lists', 'worker', 'none', '--api', served.url, '--', 'nonesuch']);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('there is no list "none"') });
  });

  it('kills a process whose answer is faulty or belongs to another job', async () => {
    expect(await messageOf(answering(`send({ type: 'done' })`))).toContain('sent a faulty message (token');
    expect(await messageOf(answering(`send({ type: 'done', token: 5 })`))).toContain('answered for job 5 during job 0');
    expect(await messageOf(answering(`send({ type: 'checkpoint', value: '' })`))).toContain(
      'sent checkpoint during job',
    );
    expect(await messageOf(answering(`process.stdout.write('x'.repeat(5e6))`))).toContain('a line of more than');
    const error = `{ code: 'x'.repeat(129), message: 'm' }`;
    expect(await messageOf(answering(`send({ type: 'failed', token: 0, error: ${error} })`))).toContain(
      'error.code: must be well-formed text of 1 to 128 bytes',
    );
    const latin = `Buffer.from('{"type":"done","token":0,"result":"Zürich"}\\n', 'latin1')`;
    expect(await messageOf(answering(`process.stdout.write(${latin})`))).toContain('it is not UTF-8');
    const deep = `'['.repeat(2e4) + ']'.repeat(2e4)`;
    expect(await messageOf(answering(`console.log('{"type":"done","token":0,"result":' + ${deep} + '}')`))).toContain(
      'its result cannot be written as JSON',
    );
  });

  it('ends what the program has started with the program', async () => {
    const { start, folder, outcomes } = await listOf(served, [{ n: 0 }], 1);
    const sleeper = `require('fs').appendFileSync('notes', 'pid ' + require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' }).pid)`;
    expect(await start(answering(sleeper), '--timeout', '1')).toMatchObject({ code: 0 });
    expect(await outcomes()).toMatchObject([{ status: 'failed' }]);
    expect(notesIn(folder)).toHaveLength(1);
    await eventually(() => livingIn(folder).length === 0, 5_000);
  });

  it('gives jobs back uncounted if the program cannot start any more', async () => {
    const { start, outcomes } = await listOf(served, [{ n: 0 }, { n: 1 }, { n: 2 }], 9);
    const once = `if (require('fs').existsSync('began')) process.exit(4); require('fs').writeFileSync('began', '')`;
    const { code, err } = await start(answering('process.exit(3)', once));
    expect(code).toBe(1);
    expect(err.match(/could not start/g)).toHaveLength(4);
    expect(err).toContain('The worker ends. Its jobs that are not done return to the list');
    const after = await outcomes();
    expect(after.map(({ status, deliveries }) => [status, deliveries])).toEqual([
      ['waiting', 1],
      ['waiting', undefined],
      ['waiting', undefined],
    ]);
  });
});
