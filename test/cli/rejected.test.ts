import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

interface Listed {
  readonly messages: readonly { readonly id: string; readonly body: string; readonly wouldStay?: string }[];
}

describe('groupage rejected on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-rejected-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, ['rejected', ...args]);
  const sendAll = async (...bodies: readonly string[]): Promise<Listed['messages']> => {
    const before = (JSON.parse((await run('--json')).out) as Listed).messages.length;
    for (const MessageBody of bodies)
      await flow.backend.clients.sqs.send(
        new SendMessageCommand({ QueueUrl: flow.queue('registerQueue'), MessageBody }),
      );
    return eventually(async () => {
      const { messages } = JSON.parse((await run('--json')).out) as Listed;
      return messages.length === before + bodies.length ? messages : undefined;
    });
  };

  it('lists, discards and redrives rejected messages', async () => {
    expect(await run()).toEqual({ code: 0, out: 'no rejected messages\n', err: '' });
    const gone = JSON.stringify({ operation: 'gone', id: 'cli-1', payload: { text: 'x'.repeat(400) } });
    const messages = await sendAll(gone, '{"not":"json');
    const [first, second] = messages;
    const { code, out, err } = await run('--limit', '5');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^operation is unknown: "gone".*\n {2}id +\S+\n {2}since /m);
    expect(out).toMatch(/ {2}operation +gone\n {2}task +cli-1\n/);
    expect(out).toMatch(/ {2}body +\{"operation":"gone".*… \(more with --json\)\n/);
    expect(out).toContain('would stay: it would be rejected again, for the same reasons');
    expect(out).toMatch(/groupage rejected discard \S+\n$/);
    expect(await run('redrive', first?.id ?? '')).toEqual({
      code: 1,
      out: '0 rejected messages sent again, about 2 left in the queue\n',
      err: expect.stringMatching(/^\S+: it would be rejected again: /),
    });
    expect(await run('discard', second?.id ?? '', '--dry-run')).toMatchObject({
      code: 0,
      out: '1 rejected message would be deleted\n',
    });
    expect(await run('discard', second?.id ?? '', '--reason', 'typing error')).toMatchObject({
      code: 0,
      out: '1 rejected message deleted, about 1 left in the queue\n',
    });
    expect(await run('discard', second?.id ?? '')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no visible message has this id: .* Try again in 30 seconds\n$/),
    });
    expect(await run('discard', '--all')).toEqual({ code: 0, out: '1 rejected message deleted\n', err: '' });
    expect((await run('discard', '--all')).out).toBe('no rejected messages\n');
    expect((await groupage(folder, ['audit'])).out).toMatch(/discard +queue rejected, messages \S+ .*typing error/);
  });
});

describe('groupage rejected', () => {
  let api: FakeApi;
  beforeAll(async () => {
    api = await fakeApi();
  });
  afterAll(() => api.close());
  const run = (...args: string[]) => groupage(tmpdir(), ['rejected', ...args, '--api', api.url]);

  it('needs ids or --all', async () => {
    for (const args of [['redrive'], ['discard'], ['discard', 'a', '--all']]) {
      const { code, err } = await run(...args);
      expect([args, code, err]).toEqual([args, 2, 'give either ids of messages or --all\n']);
    }
    expect(api.asked).toEqual([]);
  });

  it('handles given-up events, prints safely, and shows the note', async () => {
    const message = { id: 'm-1', since: '2026-01-01T00:00:00.000Z', body: '{"a":"\u001b[2J"}', destination: 'ops' };
    api.answer({ 'GET /dead-letters/given-up/messages': { messages: [message], count: 9, note: 'about 8 more' } });
    const { out, err } = await run('--given-up', '--limit', '500');
    expect([api.asked, err]).toEqual([['GET /v1/dead-letters/given-up/messages?limit=50'], 'about 8 more\n']);
    expect(out).toMatch(/^no reason is stored: ops did not accept it\n/);
    expect(out).not.toContain('\u001b[2J');
    expect(out).toContain('groupage rejected discard m-1 --given-up --api');
    api.answer({ 'POST /dead-letters/given-up/redrive': { redriven: 2, skipped: [], left: 3 } });
    expect(await run('redrive', '--all', '--given-up', '--reason', 'x')).toEqual({
      code: 0,
      out: '2 given-up events sent again, about 3 left in the queue\n',
      err: expect.stringMatching(/^About 3 messages were not handled: .* in 30 seconds\n$/),
    });
    expect(api.asked).toEqual(['POST /v1/dead-letters/given-up/redrive?reason=x {}']);
  });

  it('repeats a discard of all with the cursor', async () => {
    api.answer({
      'POST /dead-letters/rejected/discard': [
        { discarded: 500, skipped: [], left: 20, cursor: 'since' },
        { discarded: 20, skipped: [], left: 0 },
      ],
    });
    expect((await run('discard', '--all', '--json')).out).toBe('{"discarded":520,"skipped":[],"left":0}\n');
    expect(api.asked.map((each) => each.slice(each.indexOf('{')))).toEqual([
      '{"all":true}',
      '{"all":true,"cursor":"since"}',
    ]);
  });
});
