/** The Python producer as its own process, on a local stack. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SendMessageBatchCommand, type SendMessageBatchRequest } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reasonOf } from '../../src/util/problems.ts';
import { pythonEnvironment } from '../backends/engines/python.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'examples/producers/python');
const SCHEMA = ['--schema', join(ROOT, 'contract/register-message.schema.json')];

describe('the Python producer', () => {
  let flow: LocalFlow;
  let environment = '';
  let missing = '';
  beforeAll(async () => {
    try {
      const requirements = join(FOLDER, 'requirements.txt');
      environment = await pythonEnvironment({ name: 'producer', requirements, version: '3.11+' });
    } catch (cause) {
      if (NOTHING_MAY_BE_MISSING) throw cause;
      missing = reasonOf(cause);
      return;
    }
    flow = await startLocalFlow();
  });
  beforeEach((context) => {
    if (missing) context.skip(missing);
  });
  afterAll(() => flow?.stop());

  /** Runs the producer to its end. @param endpoint of SQS */
  const run = (messages: readonly object[], options: readonly string[] = [], endpoint = sqsOf(flow)) =>
    runOn(messages.map((each) => `${JSON.stringify(each)}\n`).join(''), options, endpoint);
  const runOn = async (input: string | Buffer, options: readonly string[] = [], endpoint = sqsOf(flow)) => {
    const program = join(environment, 'bin', 'python');
    const child = spawn(program, ['send.py', '--queue-url', flow.queue('registerQueue'), ...options], {
      cwd: FOLDER,
      env: {
        AWS_ENDPOINT_URL_SQS: endpoint,
        AWS_DEFAULT_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    child.stdin.end(input);
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { status, ids: stdout.split('\n').filter((line) => line !== ''), said: stderr.trim() };
  };
  const task = (n: number, more: object = {}) => ({ operation: 'ship', payload: { depot: 'PY', n }, ...more });

  it('sends tasks under generated ids, and all of them end', async () => {
    const { status, ids, said } = await run([task(0), task(1, { priority: 9, correlationId: 'née' })], SCHEMA);
    expect([status, said, new Set(ids).size]).toEqual([0, '', 2]);
    const ended = await flow.ended(ids);
    expect(ended.map(({ status: each, payload }) => [each, payload])).toEqual([
      ['succeeded', { depot: 'PY', n: 0 }],
      ['succeeded', { depot: 'PY', n: 1 }],
    ]);
    expect(ended[1]).toMatchObject({ priority: 9, correlationId: 'née' });
  });

  it('retries the refused part of a batch, and its ids prevent duplicates', async () => {
    const front = await refusingHalf(flow);
    try {
      const tasks = Array.from({ length: 25 }, (_, n) => ({ ...task(n), id: `python-${n}` }));
      const sent = await run(tasks, [], front.endpoint);
      expect([sent.status, sent.said]).toEqual([0, '']);
      expect(sent.ids).toEqual(tasks.map(({ id }) => id));
      // Three batches, each retried without the accepted messages.
      expect(front.sizes).toEqual([10, 5, 10, 5, 5, 2]);
      await flow.settled(sent.ids);
      const again = await run(tasks);
      expect(again).toEqual(sent);
      await flow.settled(again.ids);
      const called = flow.calls('PY').flatMap(({ items }) => items.map(({ id }) => id));
      expect(called.filter((id) => id.startsWith('python-')).toSorted()).toEqual(sent.ids.toSorted());
    } finally {
      await front.stop();
    }
  });

  it('reports an invalid task before sending, if it has the schema', async () => {
    const bad = task(0, { id: 'bad-1', priority: 99, expiresIn: 'soon' });
    const { status, ids, said } = await run([bad], SCHEMA);
    expect([status, ids]).toEqual([1, []]);
    expect(said).toMatch(/^line 1: /);
    for (const place of ['$.priority 99', "$.expiresIn 'soon'"]) expect(said).toContain(place);
    expect(await flow.task('bad-1')).toBeUndefined();
  });

  it('sends valid lines beside bad ones, and reports the bad ones by line', async () => {
    const good = (n: number) => Buffer.from(JSON.stringify(task(n, { id: `beside-${n}` })));
    const lines: [Buffer, RegExp?][] = [
      [good(1)],
      [Buffer.from('{"operation": "ship", "payload": {"depot": "PY"'), /^line 2: Expecting ',' delimiter/],
      [good(2)],
      [Buffer.from('')],
      [Buffer.from('["ship"]'), /^line 5: a register message is a JSON object$/],
      [Buffer.from('{"operation":"ship","payload":{"depot":NaN}}'), /^line 6: NaN is not JSON$/],
      [Buffer.from('{"operation":"ship","payload":{"depot":"\uffff"}}'), /^line 7: SQS refuses the character U\+FFFF/],
      [Buffer.from('{"operation":"ship","payload":{"depot":"\xe9"}}', 'latin1'), /^line 8: .* text as UTF-8$/],
      [Buffer.from(JSON.stringify(task(3, { priority: 99 }))), /^line 9: \$\.priority 99/],
      [Buffer.from('['.repeat(100_000)), /^line 10: .*recursion/],
      [
        Buffer.from(JSON.stringify({ operation: 'ship', payload: { text: 'x'.repeat(1_048_576) } })),
        /^line 11: .* bytes/,
      ],
      [good(3)],
    ];
    const input = Buffer.concat(lines.flatMap(([line]) => [line, Buffer.from('\n')]));
    const { status, ids, said } = await runOn(input, SCHEMA);
    expect([status, ids]).toEqual([1, ['beside-1', 'beside-2', 'beside-3']]);
    const expected = lines.flatMap(([, reason]) => (reason ? [expect.stringMatching(reason)] : []));
    expect(said.split('\n')).toEqual(expected);
    expect((await flow.ended(ids)).map((each) => each.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('sends payloads byte for byte as written, and adds only a missing id', async () => {
    const payload = `{"z":1.10, "depot":"RAW","a":-0.0,"e":1E400,"big":123456789012345678901.50,"long":${'9'.repeat(5_000)},"née":"\\u00e9é🚚\u2028" }`;
    const { status, ids, said } = await runOn(`\t{ "payload":${payload} ,"operation":"ship"}\r\n`);
    expect([status, said, ids.length]).toEqual([0, '', 1]);
    await flow.ended(ids);
    const [call] = flow.calls('RAW');
    expect(call?.text).toContain(payload);
    expect(call?.items.map(({ id }) => id)).toEqual(ids);
  });

  it('without the schema sends an invalid task, and Groupage refuses it', async () => {
    const { status, ids } = await run([task(0, { id: 'bad-2', priority: 99 })]);
    expect([status, ids]).toEqual([0, ['bad-2']]);
    const rejection = await eventually(async () => {
      const found = (await flow.rejected()).filter(({ body }) => body.includes('bad-2'));
      return found[0];
    });
    expect(rejection.errors).toEqual([
      { path: 'priority', reason: 'must be a whole number from 0 to 9 (9 is the most urgent)' },
    ]);
  });
});

const sqsOf = (flow: LocalFlow): string => new URL(flow.queue('registerQueue')).origin;

/** SQS that refuses every second message the first time, and accepts the rest. */
const refusingHalf = async (flow: LocalFlow) => {
  const sizes: number[] = [];
  const seen = new Set<string>();
  const server = createServer(async (request, response) => {
    const { QueueUrl, Entries = [] } = JSON.parse(await text(request)) as SendMessageBatchRequest;
    sizes.push(Entries.length);
    const isTaken = (body: string | undefined, n: number): boolean => n % 2 === 0 || seen.has(body ?? '');
    const taken = Entries.filter(({ MessageBody }, n) => isTaken(MessageBody, n));
    const left = Entries.filter((each) => !taken.includes(each));
    for (const { MessageBody = '' } of left) seen.add(MessageBody);
    const { Successful } = await flow.backend.clients.sqs.send(
      new SendMessageBatchCommand({ QueueUrl, Entries: taken }),
    );
    const Failed = left.map(({ Id }) => ({ Id, Code: 'InternalError', Message: 'try again', SenderFault: false }));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ Successful, Failed }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    sizes: sizes as readonly number[],
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
};
