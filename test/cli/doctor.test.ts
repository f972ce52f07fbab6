import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setting } from '../../src/domain/deployed/environment.ts';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { ApiError, type FakeApi, fakeApi } from './fake-api.ts';
import { groupage } from './groupage.ts';

describe('groupage doctor on a local stack', () => {
  let flow: LocalFlow;
  let folder: string;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-doctor-'));
    writeLocalFile(folder, flow.stack.addresses);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = (...args: string[]) => groupage(folder, ['doctor', ...args]);

  it('finds a changed setting, and says what to do', async () => {
    const { sqs } = flow.backend.clients;
    const set = (VisibilityTimeout: string) =>
      sqs.send(
        new SetQueueAttributesCommand({ QueueUrl: flow.queue('groupQueue'), Attributes: { VisibilityTimeout } }),
      );
    await set('15');
    const { code, out } = await run();
    expect([code, out]).toEqual([
      1,
      [
        '✗ a message of the group queue is delivered again after 15 s (visibility timeout), but its function may run for 20 s: the message may be handled twice at the same time → deploy again (`npm run deploy`) to restore the setting',
        'checked 0 Targets: 1 finding',
        '',
      ].join('\n'),
    ]);
    const { settings } = JSON.parse((await run('--json')).out) as { settings: object };
    expect(settings).toEqual({
      contradictions: [expect.objectContaining({ rule: 'visibility-timeout' })],
      throttled: [],
      clockAheadBy: 0,
      unseen: [],
    });
    await set('60');
    expect(await run()).toEqual({ code: 0, out: 'checked 0 Targets: nothing is wrong\n', err: '' });
  });

  it('names a queue without dead-letter queue, and continues', async () => {
    const { sqs } = flow.backend.clients;
    const QueueUrl = flow.queue('electQueue').replace('Flow-Elect-Queue', 'Flow-Elect-DeadLetters');
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    const { code, out } = await run();
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('the elect queue has no dead-letter queue: a failing message is retried for'),
    ]);
    expect(out).toContain('? dead letters could not be checked: ');
    expect(out).toContain('checked 0 Targets: 2 findings');
    const { MessageRetentionPeriod = '' } = Attributes ?? {};
    const QueueName = QueueUrl.split('/').at(-1);
    await sqs.send(new CreateQueueCommand({ QueueName, Attributes: { MessageRetentionPeriod } }));
    expect(await run()).toMatchObject({ code: 0 });
  });

  it('finds a batch whose message was purged, and repairs it', async () => {
    flow.downstream.behave(() => ({ status: 503, headers: { 'retry-after': '900' } }));
    const [id = ''] = await flow.send([{ depot: 'PURGED' }]);
    const { batchId } = await eventually(async () => {
      const task = await flow.task(id);
      const batch = task?.batchId === undefined ? undefined : await flow.batch(task.batchId);
      return Date.parse(String(batch?.nextAttemptAfter)) - Date.now() > 600_000 ? task : undefined;
    });
    expect(await run('--deep')).toEqual({
      code: 0,
      out: 'checked 1 Target and 1 batch: nothing is wrong\n',
      err: '',
    });
    await flow.backend.clients.sqs.send(new PurgeQueueCommand({ QueueUrl: flow.queue('batchQueue') }));
    await flow.backend.clients.dynamodb.send(
      new UpdateCommand({
        TableName: setting(flow.backend.settings, 'batchTable'),
        Key: { BatchId: batchId },
        UpdateExpression: 'SET RunUntil = :past',
        ExpressionAttributeValues: { ':past': Date.now() - 3_600_000 },
      }),
    );
    flow.downstream.behave(() => ({ status: 200 }));

    expect(await run()).toMatchObject({ code: 0, out: 'checked 1 Target: nothing is wrong\n' });
    for (let times = 0; times < 2; times += 1) {
      const { code, out } = await run('--deep');
      expect([code, out]).toEqual([1, expect.stringContaining(`✗ ship/depot=PURGED: batch ${batchId} is overdue`)]);
    }
    const repair = await run('--deep', '--repair');
    expect([repair.code, repair.out]).toEqual([
      0,
      expect.stringMatching(
        /^✓ ship\/depot=PURGED.* → repaired by sending a batch message\nchecked .*: all findings were repaired\n$/,
      ),
    ]);
    expect(await flow.ended([id])).toMatchObject([{ status: 'succeeded', batchId }]);
    expect(await run('--deep', '--repair')).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing is wrong'),
    });
  });
});

/** The URL of an API alone gives access to neither settings nor throttling. */
const UNSEEN =
  '? settings and throttling could not be checked: use --stack NAME, or run the command in the folder of the local stack';

describe('groupage doctor', () => {
  let api: FakeApi;
  beforeAll(async () => {
    api = await fakeApi();
  });
  afterAll(() => api.close());
  const run = (...args: string[]) => groupage(tmpdir(), ['doctor', ...args, '--api', api.url]);

  const letters = (counts: Record<string, number>) => ({
    queues: ['register', 'elect', 'group', 'batch', 'rejected'].map((queue) => ({
      queue,
      messages: counts[queue] ?? 0,
    })),
  });
  const operation = (name: string, fields: object = {}) => ({
    operation: name,
    circuit: 'closed',
    failures: 0,
    waitingTargets: 0,
    ...fields,
  });
  const CALM = { destinations: [{ destination: 'ops', phase: 'calm', failures: 0 }] };
  const NO_NOTICE = { operations: [operation('ship')] };
  const finding = (name: string, target: string, fields: object = {}) => ({
    finding: name,
    operation: 'ship',
    target,
    since: new Date(Date.now() - 7_200_000).toISOString(),
    ...fields,
  });

  it('prints a line for each finding, with a remedy, and exits with status 1', async () => {
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({ register: 3, rejected: 1 }),
      'GET /operations': NO_NOTICE,
      'GET /dead-letters/rejected/messages': {
        messages: [{ id: 'm', since: '', body: '', reasons: [{ path: 'operation', reason: 'is\u001b unknown' }] }],
        count: 1,
      },
      'GET /doctor/targets': {
        targets: ['a', 'b', 'c'],
        findings: [
          finding('stranded', 'ship/depot=A'),
          finding('expired-lock', 'ship/depot=B', { tasksWait: true }),
          finding('leaderless-batch', 'ship/depot=C\u001b', { batchId: 'C#1#1' }),
          finding('something-new', 'ship/depot=D'),
        ],
      },
    });
    const { code, out } = await run();
    expect([code, out.split('\n')]).toEqual([
      1,
      [
        expect.stringMatching(/^✗ 3 dead letters of the register queue → .* groupage redrive --dead-letters register$/),
        expect.stringMatching(
          /^✗ 1 message was rejected, so its task is not registered \(operation is\ufffd unknown\) → .* groupage rejected\. Then: groupage rejected redrive --all, or discard$/,
        ),
        '✗ ship/depot=A: tasks wait, but the Target has no leader (for 2 h) → groupage doctor --deep --repair',
        "✗ ship/depot=B: the leader's lease has expired, and tasks wait (for 2 h) → groupage doctor --deep --repair",
        '✗ ship/depot=C\ufffd: batch C#1#1 is not sealed, and the Target has no leader (for 2 h) → groupage doctor --deep --repair',
        '✗ ship/depot=D: something-new (for 2 h) → groupage doctor --deep --repair',
        UNSEEN,
        'checked 3 Targets: 6 findings',
        '',
      ],
    ]);
    expect(api.asked).toEqual([
      'GET /v1/dead-letters',
      'GET /v1/operations',
      'GET /v1/doctor/removed',
      'GET /v1/doctor/destinations',
      'GET /v1/dead-letters/rejected/messages?limit=1',
      'HEAD /v1',
      'GET /v1/doctor/targets?',
    ]);
    const json = await run('--json');
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      1,
      { ok: false, targets: 3, isAll: true, findings: [{ finding: 'stranded' }, {}, {}, {}] },
    ]);
  });

  it('names a removed operation once, with the work of all pages', async () => {
    const at = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
    const gone = { operation: 'gone', targets: 600, waiting: 900, oldestAt: at(7_200) };
    const sums = { batches: 500, tasks: 5_000, retried: 5_000, pending: 0, isAtLeast: true };
    const underWay = { ...sums, oldestAt: at(60), reasons: [] };
    const pages = [
      { operations: [{ ...gone, waitingIsAtLeast: true, underWay }], cursor: 'c1' },
      { operations: [{ ...gone, targets: 1, waiting: 100, oldestAt: at(60), underWay }] },
    ];
    api.answer({
      'GET /dead-letters': letters({}),
      'GET /operations': { operations: [] },
      'GET /doctor/removed': pages,
      'GET /doctor/destinations': CALM,
      'GET /doctor/targets': { targets: [], findings: [] },
    });
    const { out } = await run();
    expect(out.split('\n').filter((line) => line.startsWith('✗'))).toEqual([
      expect.stringMatching(
        /^✗ gone: .*: at least 1,000 tasks of 601 Targets wait, the oldest for 2 h; at least 5,000 tasks in at least 500 batches have no result\. /,
      ),
    ]);
    expect(api.asked).toContain('GET /v1/doctor/removed?cursor=c1');
  });

  it('reports circuits, pauses and destinations that are down, with what to do', async () => {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    const open = { by: 'circuit', since: at(-60), until: at(3_600), reason: 'answered 503' };
    api.answer({
      'GET /dead-letters': letters({}),
      'GET /operations': {
        operations: [
          operation('mail', { circuit: 'open', failures: 5, paused: open }),
          operation('back', { circuit: 'half-open', failures: 5, lastFailure: 'answered 502' }),
          operation('port', { paused: { by: 'person', since: at(-7_200), reason: 'fog' } }),
          operation('busy', {
            underWay: {
              batches: 2,
              tasks: 9,
              retried: 9,
              pending: 0,
              attempt: 7,
              oldestAt: at(-7_200),
              reasons: [{ reason: 'answered 429', tasks: 9 }],
            },
          }),
        ],
      },
      'GET /doctor/removed': { operations: [{ operation: 'gone', targets: 2, waiting: 7, oldestAt: at(-7_200) }] },
      'GET /doctor/destinations': {
        destinations: [
          { destination: 'ops', phase: 'down', failures: 7, openUntil: at(3_600) },
          { destination: 'bus', phase: 'slow', failures: 0 },
        ],
      },
      'GET /doctor/targets': {
        targets: ['ship/depot=MUC'],
        findings: [],
        paused: [{ target: 'ship/depot=MUC', paused: { by: 'person', since: at(-7_200) } }],
      },
    });
    const { code, out } = await run();
    expect([code, out.split('\n')]).toEqual([
      1,
      [
        '✗ mail: its circuit is open after 5 failed attempts in a row: answered 503. No calls are made, and its tasks wait; nothing is lost → fix the downstream. A batch tries it again by itself in 60 min; at once: groupage resume mail',
        '✗ back: its circuit is half-open after 5 failed attempts in a row: answered 502. Its tasks wait for the next attempt, which closes the circuit or opens it again → if it opens again, fix the downstream',
        '✗ gone: it is not configured, but has work left: 7 tasks of 2 Targets wait, the oldest for 2 h. These tasks wait; nothing is lost → configure it again: they continue. To drop waiting tasks instead: configure it again, groupage pause gone, groupage cancel ID for each',
        expect.stringMatching(
          /^✗ destination ops: its circuit is open, because 7 calls .* tests it in 60 min, by itself\./,
        ),
        '! port: a user paused it 2 h ago: fog. Its tasks wait; nothing is lost. Who: groupage audit → groupage resume port',
        '! busy: 9 tasks retried after up to 7 attempts (answered 429); oldest registered 2 h ago. Groupage calls again by itself → if it lasts, fix the downstream. Which: groupage batches --under-way --operation busy',
        '! ship/depot=MUC: a user paused it 2 h ago, without a reason. Its tasks wait; nothing is lost. Who: groupage audit → groupage resume --target "ship/depot=MUC"',
        UNSEEN,
        'checked 1 Target: 4 findings',
        '',
      ],
    ]);
    expect(JSON.parse((await run('--json')).out)).toMatchObject({
      ok: false,
      stops: [{}, {}, {}, {}].map(() => expect.any(String)),
    });
  });

  it('names downstreams that answer without results, which is no finding', async () => {
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({}),
      'GET /operations': { operations: [operation('ship'), operation('embed', { answersWithoutResults: true })] },
      'GET /doctor/targets': { targets: [], findings: [] },
    });
    const { code, out } = await run();
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        '! embed: its downstream answers without results, so each task counts as succeeded. Set downstream.requireResults to true if that is wrong, or to false if it is right',
        UNSEEN,
        'checked 0 Targets: nothing is wrong, except for the note above (!)',
        '',
      ],
    ]);
    expect(JSON.parse((await run('--json')).out)).toMatchObject({
      ok: true,
      notices: [expect.stringMatching(/^embed: /)],
    });
  });

  it('checks the first thousand Targets, and says that there are more', async () => {
    const page = { targets: Array.from({ length: 100 }, (_, n) => `t${n}`), findings: [], cursor: 'more' };
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({}),
      'GET /operations': NO_NOTICE,
      'GET /doctor/targets': page,
    });
    expect(await run()).toEqual({
      code: 0,
      out: `${UNSEEN}\nchecked the first 1,000 Targets (--deep checks all): nothing is wrong\n`,
      err: '',
    });
  });

  it('--deep checks all Targets and batches by page, and repairs only by POST', async () => {
    const overdue = finding('overdue-batch', 'b', { batchId: 'b#1#1' });
    for (const [method, args] of [
      ['GET', ['--deep']],
      ['POST', ['--deep', '--repair']],
    ] as const) {
      const treated = (remedy?: string) =>
        method === 'POST' ? { repaired: remedy !== undefined, ...(remedy ? { remedy } : {}) } : {};
      api.answer({
        'GET /doctor/destinations': CALM,
        'GET /doctor/removed': { operations: [] },
        'GET /dead-letters': letters({}),
        'GET /operations': NO_NOTICE,
        [`${method} /doctor/targets`]: [
          {
            targets: ['a'],
            findings: [finding('expired-lock', 'a', { tasksWait: false, ...treated() })],
            cursor: 'c1',
          },
          { targets: ['b'], findings: [] },
        ],
        [`${method} /doctor/batches`]: [
          { batches: 5, findings: [] },
          { batches: 100, findings: [{ ...overdue, ...treated('batch-message') }], cursor: 'c2' },
          { batches: 20, findings: [] },
        ],
      });
      const { code, out } = await run(...args);
      const [first, second, , last] = out.split('\n');
      expect([code, last]).toEqual(
        method === 'GET'
          ? [1, 'checked 2 Targets and 125 batches: 2 findings']
          : [0, 'checked 2 Targets and 125 batches: all findings were repaired'],
      );
      expect([first, second].map((line) => line?.split(' → ')[1])).toEqual(
        method === 'GET'
          ? ['groupage doctor --deep --repair', 'groupage doctor --deep --repair']
          : ['had already been resolved before the repair', 'repaired by sending a batch message'],
      );
      expect(api.asked).toEqual([
        'GET /v1/dead-letters',
        'GET /v1/operations',
        'GET /v1/doctor/removed',
        'GET /v1/doctor/destinations',
        'HEAD /v1',
        `${method} /v1/doctor/targets?`,
        `${method} /v1/doctor/batches?target=a`,
        `${method} /v1/doctor/targets?cursor=c1`,
        `${method} /v1/doctor/batches?target=b`,
        `${method} /v1/doctor/batches?target=b&cursor=c2`,
      ]);
    }
  });

  it('names what it cannot read or repair, continues, and exits with status 1', async () => {
    const refused = { repaired: false, reason: 'operation "gone" is not\u001b configured' };
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({}),
      'GET /operations': NO_NOTICE,
      'POST /doctor/targets': [
        {
          targets: ['a'],
          findings: [finding('stranded', 'a', { repaired: true, remedy: 'elect-message' })],
          cursor: 'c1',
        },
        { targets: ['b'], findings: [], skipped: [{ id: 'b', reason: 'throttled' }] },
      ],
      'POST /doctor/batches': [
        new ApiError(500, { detail: 'internal error: see the log of the API function' }),
        {
          batches: 3,
          findings: [finding('overdue-batch', 'b', { batchId: 'b#1#1', ...refused })],
          skipped: [{ id: 'b#1#2', reason: 'throttled' }],
        },
      ],
    });
    const { code, out } = await run('--deep', '--repair');
    expect([code, out.split('\n')]).toEqual([
      1,
      [
        '✓ a: tasks wait, but the Target has no leader (for 2 h) → repaired by sending an elect message',
        '✗ a: could not be checked → reading the batches of this Target failed: internal error: see the log of the API function',
        '✗ b: could not be checked → throttled',
        '✗ b: batch b#1#1 is overdue because its message was lost or waits behind many others (for 2 h) → not repaired: operation "gone" is not\ufffd configured',
        '✗ b#1#2: could not be checked → throttled',
        UNSEEN,
        'checked 2 Targets and 3 batches: 4 findings',
        '',
      ],
    ]);
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({}),
      'GET /operations': NO_NOTICE,
      'GET /doctor/targets': { targets: ['a'], findings: [], skipped: [{ id: 'a', reason: 'throttled' }] },
    });
    const json = await run('--json');
    expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { ok: false, skipped: [{ id: 'a' }] }]);
  });

  it('refuses --repair without --deep', async () => {
    api.answer({});
    expect(await run('--repair')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--deep') });
    expect(api.asked).toEqual([]);
  });

  // This test is the last one, since requests in flight may be answered after the command has ended.
  it('stops if the API refuses a request with 403', async () => {
    api.answer({
      'GET /doctor/destinations': CALM,
      'GET /doctor/removed': { operations: [] },
      'GET /dead-letters': letters({}),
      'GET /operations': NO_NOTICE,
      'GET /doctor/targets': { targets: ['a', 'b'], findings: [] },
      'GET /doctor/batches': new ApiError(403, { detail: 'Forbidden' }),
    });
    expect(await run('--deep')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Forbidden') });
  });
});
