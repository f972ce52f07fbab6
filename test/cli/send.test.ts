import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { ApiError, type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

describe('groupage send with a failing API', () => {
  let fake: FakeApi;
  let folder: string;
  beforeAll(async () => {
    fake = await fakeApi();
    folder = temporaryFolder('send');
  });
  afterAll(() => fake.close());

  const run = (...args: string[]) => groupage(folder, ['send', ...args, '--api', fake.url]);
  /** The ids of the tasks in each request. */
  const ids = (): string[][] =>
    fake.asked.map((asked) =>
      (JSON.parse(asked.slice(asked.indexOf('{'))) as { tasks: { id: string }[] }).tasks.map(({ id }) => id),
    );
  const BUSY = new ApiError(503, { detail: 'DynamoDB or SQS has no capacity for this now' });

  it('prints how many lines were sent, and repeats none', async () => {
    const line = (n: number) =>
      n === 2 ? '{"operation":"ship","id":"mine","payload":{}}' : '{"operation":"ship","payload":{}}';
    writeFileSync(join(folder, 'messages.jsonl'), Array.from({ length: 2_500 }, (_, n) => line(n)).join('\n'));
    fake.answer({ 'POST /tasks': [{ ids: Array.from({ length: 1_000 }, () => 't') }, BUSY] });
    const { code, out, err } = await run('--file', 'messages.jsonl');
    expect([code, out]).toEqual([1, '1000 sent, 0 refused\n']);
    const [, token = ''] = /--token "(\w+)"\n$/.exec(err) ?? [];
    expect(err).toBe(
      `DynamoDB or SQS has no capacity for this now\nStopped after line 1000. Some of the next 1,000 lines may have been registered. To send the remaining lines without sending a line twice, repeat the command with the same input and with --token "${token}"\n`,
    );
    const first = ids();
    expect(new Set(first.flat()).size).toBe(2_000);
    fake.answer({ 'POST /tasks': { ids: [] } });
    expect((await run('--file', 'messages.jsonl', '--token', token)).code).toBe(0);
    const again = ids();
    expect(again.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(again.slice(0, 2)).toEqual(first);
    expect([again[0]?.[2], new Set(again.flat()).size]).toEqual(['mine', 2_500]);
  });

  it('prints the id with which a single task can be sent again', async () => {
    fake.answer({ 'POST /tasks': BUSY });
    const { code, err } = await run('ship', '{}');
    const [, id] = /"id":"(\w+)"/.exec(fake.asked[0] ?? '') ?? [];
    expect([code, err]).toEqual([
      1,
      `DynamoDB or SQS has no capacity for this now\nThe task may have been registered. To send it again without creating a second task, repeat the command with --id "${id}"\n`,
    ]);
  });

  it('prints no such hint for a refused task', async () => {
    fake.answer({ 'POST /tasks': new ApiError(400, { detail: 'no operation is called ship' }) });
    expect(await run('ship', '{}')).toEqual({ code: 1, out: '', err: 'no operation is called ship\n' });
  });

  it('accepts only valid tokens, and only for files', async () => {
    expect(await run('--file', 'messages.jsonl', '--token', '-')).toMatchObject({ code: 2 });
    expect(await run('ship', '{}', '--token', 't')).toMatchObject({ code: 2, err: expect.stringContaining('--id') });
  });
});
