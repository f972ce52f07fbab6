import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bar, jobLines, describe as show } from '../../tools/cli/commands/lists/show.ts';
import { toSameApi } from '../../tools/cli/shared/connect.ts';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { ApiError, type FakeApi, fakeApi, NEVER } from './fake-api.ts';
import { groupage, groupageProcess } from './groupage.ts';

const lines = (count: number) => Array.from({ length: count }, (_, n) => `{"depot":"MUC","n":${n}}`);

describe('groupage lists on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-lists-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, ['lists', ...args]);
  const piped = (input: string, ...args: string[]) => groupage(folder, ['lists', ...args], input);
  const said = (out: string) => ({ code: 0, out, err: '' });
  const shown = async (id: string) => JSON.parse((await run('show', id, '--json')).out);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };

  it('creates, fills, triggers, seals and shows a list', async () => {
    expect(await run('create', '--id', 'spring', '--operation', 'ship', '--name', 'spring parcels')).toEqual(
      said('spring\n'),
    );
    file('parcels.jsonl', `\ufeff${lines(5).join('\r\n')}\n\n`);
    expect(await run('add', 'spring', 'parcels.jsonl')).toEqual(
      said('5 jobs added to spring, which now has 5 in total\n'),
    );
    expect(await piped(lines(3).join('\n'), 'add', 'spring', '-')).toEqual(
      said('3 jobs added to spring, which now has 8 in total\n'),
    );
    expect(await run('trigger', 'spring', '--percent', '25')).toEqual(said('2 jobs triggered, 6 left\n'));
    expect(await run('trigger', 'spring', '--count', '100')).toEqual(said('6 jobs triggered, 0 left\n'));
    expect(await run('seal', 'spring')).toMatchObject({ code: 0, err: '' });
    await eventually(async () => (await shown('spring')).status === 'complete');
    expect((await run('show', 'spring')).out).toMatch(
      /^id +spring\nstatus +complete\njobs +█{30} {2}8 of 8 done\navailable +0\nclaimed +0\nstarted +0\nsucceeded +8\nfailed +0\nname +spring parcels\noperation +ship\ncreated +\S+ \(.+ ago\)\nended +\S+ \(.+ ago\)\n$/,
    );
    expect((await run('list')).out).toMatch(
      /^LIST +STATUS +JOBS +OPERATION +AGE +NAME\nspring +complete +8 +ship +\d\S* \w+ +spring parcels\n$/,
    );
    expect(JSON.parse((await run('list', '--json')).out)).toMatchObject({ lists: [{ id: 'spring', total: 8 }] });
    expect(await run('delete', 'spring')).toEqual(said('deleted spring with 8 jobs\n'));
    expect(await run('show', 'spring')).toMatchObject({ code: 1, err: expect.stringContaining('deleted') });
  });

  it('claims jobs, and prints their payloads as sent', async () => {
    await run('create', '--id', 'pull');
    const odd = ['{"n": 12345678901234567890,  "a":"\\u001b[31m"}', '{"b":[1,\t2.50]}', '{}'];
    await piped(odd.join('\n'), 'add', 'pull', '-');
    const first = await run('claim', 'pull', '--count', '2', '--lease', '600', '--claim-id', 'me');
    expect(first).toEqual({
      code: 0,
      out: `{"token":0,"deliveries":1,"payload":${odd[0]}}\n{"token":1,"deliveries":1,"payload":${odd[1]}}\n`,
      err: expect.stringMatching(
        /^claim me\.0\.2\.\S{6} reserves 2 jobs until \S+\. When the jobs are done: groupage lists complete pull me\.0\.2\.\S{6}\n$/,
      ),
    });
    const [, claim = ''] = /^claim (\S+)/.exec(first.err) ?? [];
    expect(await run('claim', 'pull', '--count', '2', '--lease', '600', '--claim-id', 'me')).toEqual(first);
    expect(await run('complete', 'pull', claim, '--jobs', '0')).toEqual(
      said('1 job is reported as succeeded; pull is not complete yet\n'),
    );
    expect((await run('release', 'pull', claim)).out).toMatch(/^\d jobs? released\n$/);
    expect(await run('complete', 'pull', claim)).toMatchObject({ code: 1, out: '' });
    const { claimId, jobs } = JSON.parse((await run('claim', 'pull', '--count', '5', '--json')).out);
    expect(jobs.map(({ token }: { readonly token: number }) => token)).toEqual([2]);
    const again = JSON.parse((await run('claim', 'pull', '--count', '5', '--json')).out);
    expect(again.jobs).toEqual([{ token: 1, deliveries: 2, payload: { b: [1, 2.5] } }]);
    expect(await run('complete', 'pull', again.claimId, '--jobs', '1')).toEqual(
      said('1 job is reported as succeeded; pull is not complete yet\n'),
    );
    expect(await run('seal', 'pull')).toEqual(said('pull is sealed\n'));
    expect(await run('claim', 'pull')).toEqual({ code: 0, out: '', err: 'no job can be claimed: pull is sealed\n' });
    expect((await run('show', 'pull')).out).toMatch(/^jobs +█{20}▒{10} {2}2 of 3 done$/m);
    const withError = ['--code', 'no-depot', '--message', 'there is none'];
    expect(await run('complete', 'pull', claimId, ...withError)).toMatchObject({ code: 2 });
    expect(await run('complete', 'pull', claimId, '--failed', ...withError)).toEqual(
      said('all jobs of the claim are reported as failed; pull is complete\n'),
    );
    expect((await run('show', 'pull')).out).toMatch(/^next +the failed jobs: groupage lists show pull --jobs/m);
    const listed = (await run('show', 'pull', '--jobs')).out.trimEnd().split('\n');
    expect(listed.map((line) => JSON.parse(line).status)).toEqual(['succeeded', 'succeeded', 'failed']);
    expect(JSON.parse(listed[2] ?? '').error).toEqual({ code: 'no-depot', message: 'there is none' });
    expect(listed[0]).toContain(`"payload":${odd[0]}`);
    expect(JSON.parse((await run('show', 'pull', '--jobs', '--json')).out).jobs).toHaveLength(3);
  });

  it('answers in JSON', async () => {
    const { id } = JSON.parse((await run('create', '--operation', 'ship', '--json')).out);
    expect(JSON.parse((await piped(lines(3).join('\n'), 'add', id, '-', '--token', 't', '--json')).out)).toEqual({
      added: 3,
      total: 3,
      token: 't',
    });
    expect(JSON.parse((await run('trigger', id, '--count', '1', '--json')).out)).toEqual({ triggered: 1, left: 2 });
    expect(JSON.parse((await run('cancel', id, '--json')).out)).toMatchObject({
      id,
      status: 'cancelled',
      available: 0,
    });
    expect(JSON.parse((await run('delete', id, '--json')).out)).toMatchObject({ id, status: 'deleted' });
  });

  it('adds a file once by its token, up to an invalid line', async () => {
    await run('create', '--id', 'many');
    const good = lines(2_500);
    const wrong = good.with(1_700, '{"depot":').with(1_800, '[]').with(2_400, '{}x');
    file('many.jsonl', wrong.join('\n'));
    const { code, out, err } = await run('add', 'many', 'many.jsonl', '--token', 'spring-1');
    expect([code, out, err.split('\n')]).toEqual([
      1,
      '',
      [
        expect.stringMatching(/^line 1701: .*JSON/),
        'line 1801: must be a JSON object',
        '1,000 jobs added, up to line 1000. Correct these lines. To add the remaining lines without adding a line twice, run: groupage lists add many "many.jsonl" --token "spring-1"',
        '',
      ],
    ]);
    expect((await shown('many')).total).toBe(1_000);
    file('many.jsonl', good.join('\n'));
    expect(await run('add', 'many', 'many.jsonl', '--token', 'spring-1')).toEqual(
      said('2,500 jobs added to many, which now has 2,500 in total\n'),
    );
    const large = `{"text":"${'ü'.repeat(140_000)}"}`;
    const tooLarge =
      'line 2: has 280011 bytes, but a payload has at most 262144\nNo job was added. Correct these lines. ';
    expect((await piped(`{}\n${large}\n`, 'add', 'many', '-')).err).toContain(tooLarge);
    const listed = (await run('show', 'many', '--jobs')).out.trimEnd().split('\n');
    expect([listed.length, JSON.parse(listed.at(-1) ?? '').token]).toEqual([2_500, 2_499]);
    const other = await piped(lines(3).join('\n'), 'add', 'many', '-', '--token', 'spring-1');
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringContaining('the token was already used with other jobs'),
    });
    expect((await shown('many')).total).toBe(2_500);
  });

  it('exits with 1 on a refusal, and with 2 on wrong usage', async () => {
    await run('create', '--id', 'shut');
    await run('cancel', 'shut');
    file('one.jsonl', '{}\n');
    for (const [args, code, err] of [
      [['show', 'nobody'], 1, 'there is no list "nobody"'],
      [['create', '--operation', 'nobody'], 1, '  operation is unknown: "nobody"; configured are ship'],
      [['create', '--id', 'shut', '--name', 'other'], 1, 'list shut already exists with another name'],
      [['add', 'shut', 'one.jsonl'], 1, 'list shut is cancelled: no more jobs can be added\nNo job was added\n'],
      [['add', 'shut', 'none.jsonl'], 1, 'none.jsonl cannot be read'],
      [['add', 'shut', '.'], 1, '. is a folder'],
      [['trigger', 'shut', '--count', '1'], 1, 'list shut has no operation'],
      [['trigger', 'shut', '--percent', '101'], 1, 'percent must be a number above 0, at most 100'],
      [['claim', 'shut'], 1, 'list shut is cancelled'],
      [['complete', 'shut', 'x'], 1, 'claim'],
      [['trigger', 'shut'], 2, 'give either --count or --percent'],
      [['trigger', 'shut', '--count', '1', '--percent', '1'], 2, 'give either --count or --percent'],
      [['trigger', 'shut', '--count', '0'], 2, 'Give a whole number'],
      [['trigger', 'shut', '--percent', 'some'], 2, 'Give a number such as 10'],
      [['trigger', 'shut', '--count', '1', '--token', 'x'.repeat(49)], 2, 'Give well-formed text of 1 to 48'],
      [['add', 'shut', 'one.jsonl', '--token', ''], 2, 'Give well-formed text of 1 to 48'],
      [['claim', 'shut', '--lease', '1m'], 2, 'Give a whole number'],
      [['complete', 'shut', 'x', '--jobs', 'a'], 2, 'Give tokens of jobs'],
      [['add', 'shut'], 2, "missing required argument 'file'"],
      [['delete', '..'], 2, 'Give the id of a list'],
      [['seal', ''], 2, 'Give the id of a list'],
      [[], 2, 'Usage: groupage lists'],
    ] as const)
      expect([args, await run(...args)]).toMatchObject([args, { code, out: '', err: expect.stringContaining(err) }]);
  });
});

describe('groupage lists with a failing API', () => {
  let fake: FakeApi;
  let folder: string;
  beforeAll(async () => {
    fake = await fakeApi();
    folder = mkdtempSync(join(tmpdir(), 'groupage-lists-'));
  });
  afterAll(() => {
    fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const toFake = (args: readonly string[]) => ['lists', ...args, '--api', fake.url];
  const run = (args: readonly string[], input = '') => groupage(folder, toFake(args), input);
  const broken = new ApiError(500, { detail: 'something went wrong here' });
  const busy = new ApiError(503, { detail: 'too many ask of it at once' });
  const added = { first: 0, count: 1_000, total: 1_000 };

  it('prints the command that adds the rest, and nothing twice', async () => {
    fake.answer({ 'POST /lists/l/jobs': [added, broken] });
    const { code, err } = await run(['add', 'l', '-'], lines(1_500).join('\n'));
    const [, token] = /--token "(\w+)" --api \S+\n$/.exec(err) ?? [];
    expect([code, err]).toEqual([
      1,
      `something went wrong here\n1,000 jobs added, up to line 1000. More jobs may have been added. To add the remaining lines without adding a line twice, run: groupage lists add l "-" --token "${token}" --api "${fake.url}"\n`,
    ]);
    expect(fake.asked.map((each) => /"token":"([^"]+)"/.exec(each)?.[1])).toEqual([`${token}.0`, `${token}.1`]);
  });

  it('prints that command too after Ctrl-C', async () => {
    fake.answer({ 'POST /lists/l/jobs': [added, NEVER] });
    const ran = groupageProcess(folder, toFake(['add', 'l', '-', '--token', 't']), lines(2_000).join('\n'));
    await eventually(() => fake.asked.length === 2);
    ran.child.kill('SIGINT');
    expect(await ran).toEqual({
      code: 130,
      out: '',
      err: `Interrupted. 1,000 jobs added, up to line 1000. More jobs may have been added. To add the remaining lines without adding a line twice, run: groupage lists add l "-" --token "t" --api "${fake.url}"\n`,
    });
  });

  it('names the lines that the API refuses', async () => {
    const errors = [{ path: 'jobs[1].payload.depot', reason: 'is missing' }];
    fake.answer({ 'POST /lists/l/jobs': [new ApiError(400, { detail: 'not valid', errors })] });
    expect(await run(['add', 'l', '-'], '{"depot":"MUC"}\n\n{}\n')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^line 3: payload\.depot is missing\nNo job was added. Correct these lines. /),
    });
  });

  it('prints the commands that trigger and claim the same jobs', async () => {
    fake.answer({ 'POST /lists/l/triggers': busy, 'POST /lists/l/claims': busy });
    const triggered = await run(['trigger', 'l', '--percent', '2.5']);
    const [, token] = /"token":"(\w+)"/.exec(fake.asked[0] ?? '') ?? [];
    expect(triggered).toEqual({
      code: 1,
      out: '',
      err: `too many ask of it at once\nSome of the jobs may have been triggered. To trigger the jobs without triggering any job twice, run: groupage lists trigger l --percent 2.5 --token "${token}" --api "${fake.url}"\n`,
    });
    const claimed = await run(['claim', 'l', '--count', '3']);
    const [, claimId] = /"claimId":"(\w+)"/.exec(fake.asked[1] ?? '') ?? [];
    expect(claimed.err).toContain(
      `groupage lists claim l --count 3 --lease 60 --claim-id ${claimId} --api "${fake.url}"\n`,
    );
  });
});

describe('groupage lists of a list too large to count', () => {
  let fake: FakeApi;
  beforeAll(async () => {
    fake = await fakeApi();
  });
  afterAll(() => fake.close());

  it('shows the known counts, and seals it', async () => {
    const counts = { total: 9_000_000, available: 5_000_000, leased: 7, failed: 3, countsAreAtLeast: true };
    const huge = { id: 'huge', status: 'open', ...counts, createdAt: '2026-01-01T00:00:00.000Z' };
    fake.answer({ 'GET /lists/huge': huge, 'POST /lists/huge/seal': { ...huge, status: 'sealed' } });
    const run = (...args: string[]) => groupage(tmpdir(), ['lists', ...args, '--api', fake.url]);
    expect(await run('show', 'huge')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^id +huge\nstatus +open\njobs +9,000,000 \(too many to count how many are done\)\navailable +5,000,000\nclaimed +7\nfailed +at least 3\ncreated .*\nnext .*: groupage lists claims huge\n$/,
      ),
    });
    expect(await run('seal', 'huge')).toMatchObject({ code: 0, out: 'huge is sealed\n' });
  });
});

it('a printed command names the same stack and API as the run that prints it', () => {
  expect(toSameApi({})).toBe('');
  expect(toSameApi({ stack: 'Groupage-prod-Flow', api: 'https://gateway.internal/v1' })).toBe(
    ' --stack Groupage-prod-Flow --api "https://gateway.internal/v1"',
  );
});

describe('a list in the terminal', () => {
  const list = { id: 'l', status: 'open', available: 0, succeeded: 0, failed: 0, createdAt: '' } as const;

  it('has a full bar only when all jobs are done', () => {
    const drawn = (total: number, done: number, leased: number, started: number) =>
      bar({ ...list, total, done, leased, started });
    expect(drawn(0, 0, 0, 0)).toBe('░'.repeat(30));
    expect(drawn(3, 3, 0, 0)).toBe('█'.repeat(30));
    expect(drawn(100_000, 99_999, 1, 0)).toBe(`${'█'.repeat(29)}▒`);
    expect(drawn(30, 10, 5, 5)).toBe(`${'█'.repeat(10)}${'▒'.repeat(10)}${'░'.repeat(10)}`);
  });

  it('says that it waits for its seal if all jobs are done', () => {
    const status = (total: number, done: number, stands: 'open' | 'sealed' = 'open') =>
      /^status +(.*)$/m.exec(show({ ...list, status: stands, total, done, leased: 0, started: 0 }))?.[1];
    expect(status(3, 3)).toBe('open (all jobs are done; seal the list to complete it)');
    expect([status(3, 2), status(0, 0), status(3, 3, 'sealed')]).toEqual(['open', 'open', 'sealed']);
  });

  it('has one line for each job, whatever its whitespace', () => {
    expect(jobLines('{"jobs":[{"token":0,"payload":{\n "a":\r\n1.0}}],"next":1}')).toEqual([
      '{"token":0,"payload":{  "a": 1.0}}',
    ]);
    expect(jobLines('{"jobs":[],"status":"open"}')).toEqual([]);
  });
});
