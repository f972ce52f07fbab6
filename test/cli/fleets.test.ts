import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey } from '../../src/domain/fleets/ids.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import { describeFleet, describePartition } from '../../tools/cli/commands/fleet.ts';
import type { FleetNodeShape, FleetPartitionShape } from '../../tools/cli/shared/answers.ts';
import { writeLocalFile } from '../../tools/local/local-folder.ts';
import { itAtLength } from '../at-length.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { type LocalFlow, startLocalFlow } from '../local/flow.ts';
import { CREDENTIALS, type Served, serve } from './aws.ts';
import { groupage, groupageProcess, type Ran } from './groupage.ts';

const [A, B, B2] = [nodeOf('a'), nodeOf('b'), nodeOf('b@2')];
const REGION = 'eu-test-1';
const said = (out: string): Ran => ({ code: 0, out, err: '' });
const refused = (words: string) => ({ code: 1, out: '', err: expect.stringContaining(words) });

describe('groupage fleet', () => {
  let flow: LocalFlow;
  let folder: string;
  let store: Fleets;
  let name: FleetName;
  let made = 0;
  beforeAll(async () => {
    flow = await startLocalFlow();
    folder = mkdtempSync(join(tmpdir(), 'groupage-fleets-'));
    writeLocalFile(folder, flow.stack.addresses);
    store = dynamoDBFleets(flow.stack.clients.dynamodb, flow.stack.addresses.tables.fleet);
  });
  afterAll(async () => {
    await flow.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    made += 1;
    name = fleet(`flights-${made}`);
  });

  const run = (...args: string[]) => groupage(folder, ['fleet', ...args]);
  /** Runs on the table, from a folder without a local stack. */
  const onTable = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
    groupageProcess(tmpdir(), ['fleet', ...args], '', {
      PATH: process.env.PATH,
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ENDPOINT_URL_DYNAMODB: flow.stack.addresses.dynamodb,
      AWS_ACCESS_KEY_ID: CREDENTIALS.id,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret,
      AWS_REGION: REGION,
      ...environment,
    });
  const joined = async (...keys: readonly NodeKey[]): Promise<void> => {
    // The nodes send no heartbeats: their TTL is so long that none looks silent on a slow machine.
    for (const key of keys)
      await store.join(name, aNode({ key, ttl: 3_600_000, startedAt: Date.now(), beatAt: Date.now() }));
  };
  const taken = async (id: string, by: NodeKey): Promise<Lease> =>
    (await store.take(name, { partition: partition(id), fence: 0 }, by, Date.now())) as Lease;

  describe.each([
    ['through the local API', (args: readonly string[]) => run(...args)],
    ['on a table', (args: readonly string[]) => onTable([...args, '--table', flow.stack.addresses.tables.fleet])],
  ])('%s', (_, ask) => {
    it('lists fleets, and shows one with its nodes and free partitions', async () => {
      await joined(A, B);
      for (const id of ['p-0', 'p-1', 'p-2']) await taken(id, A);
      await taken('p-3', nodeOf('gone'));
      expect((await ask(['show'])).out.split('\n')).toContain(name);
      const { out, ...rest } = await ask(['show', name]);
      expect(rest).toEqual({ code: 0, err: '' });
      expect(out).toMatch(
        new RegExp(`^${name}: 2 nodes, 4 partitions\n\nNODE +STATUS +PARTITIONS +LAST HEARTBEAT +TTL`),
      );
      expect(out).toMatch(/\na@1 +working +3 +[\d.]+ \w+ ago +3600 s/);
      expect(out).toMatch(/\nb@1 +working +0 /);
      expect(out).toContain('\na@1: p-0 p-1 p-2\n');
      expect(out).toContain('\nfree: p-3\n  (no node works on these partitions yet');
    });

    it('lists each partition', async () => {
      await joined(A);
      const lease = await taken('p-0', A);
      await store.checkpoint(name, held(lease), 'x'.repeat(100), 1);
      await taken('p-1', nodeOf('gone'));
      const { out } = await ask(['show', name, '--partitions']);
      expect(out).toMatch(/^PARTITION +STATUS +OWNER +SINCE +FENCE +NEXT OWNER +PINNED TO\n/);
      expect(out).toMatch(/\np-0 +owned +a@1 .* 1\n/);
      expect(out).toMatch(/\np-1 +free +\(gone@1\) .* 1\n$/);
    });

    it('shows a partition with its checkpoint, from either kind of row', async () => {
      await joined(A);
      const [inLease, apart] = [await taken('p-0', A), await taken('p-1', A)];
      await store.checkpoint(name, held(inLease), 'x'.repeat(100), 1);
      await store.open(name, apart);
      await store.checkpoint(name, { ...held(apart), checkpointApart: true }, 'y'.repeat(100), 1);
      expect((await ask(['show', name, '--partition', 'p-0'])).out).toMatch(/ 1\n\ncheckpoint: x{100}\n$/);
      expect((await ask(['show', name, '--partition', 'p-1'])).out).toMatch(/ 1\n\ncheckpoint: y{100}\n$/);
    });

    it('separates checkpoints after the last node of an older release has left', async () => {
      await joined(A);
      const refused = await ask(['separate-checkpoints', name]);
      expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/replace a@1 first\n$/)]);
      await store.leave(name, A);
      await store.join(name, aNode({ key: B, readsApart: true }));
      expect((await ask(['separate-checkpoints', name])).out).toMatch(/moves to a row of its own when its partition/);
      expect((await store.read(name)).checkpointsApart).toBe(true);
    });

    it('drains and resumes a node, and warns at the last one', async () => {
      await joined(A, B);
      await taken('p-0', A);
      expect(await ask(['drain', name, 'a'])).toEqual(
        said('a@1 is draining: it gives away 1 partition, each after the current work on the partition has ended\n'),
      );
      const warning = `no node of fleet ${name} takes partitions now: they are not worked on until a node joins, or the draining of one ends\n`;
      expect(await ask(['drain', name, 'b@1'])).toEqual({
        ...said('b@1 is draining and has no partitions\n'),
        err: warning,
      });
      expect((await store.read(name)).nodes.map(({ draining }) => draining)).toEqual([true, true]);
      expect((await ask(['show', name])).out).toMatch(/a@1 +draining/);
      expect(await ask(['drain', name, 'a', '--undo'])).toEqual(said('a@1 may take partitions again\n'));
      expect((await store.read(name)).nodes.map(({ draining }) => draining)).toEqual([undefined, true]);
    });

    it('pins a partition to a node, and unpins it', async () => {
      await joined(A, B);
      await taken('p-0', A);
      expect(await ask(['move', name, 'p-0', 'b'])).toEqual(
        said('p-0 moves to b@1 and stays there until that node stops\n'),
      );
      expect((await store.read(name)).leases.map(({ pin }) => pin)).toEqual([B]);
      expect((await ask(['show', name])).out).toContain('\npinned to a node: p-0\n');
      expect(await ask(['move', name, 'p-0', 'a'])).toEqual(
        said('p-0 is already on a@1 and stays there until that node stops\n'),
      );
      expect(await ask(['move', name, 'p-0', '--free'])).toEqual(said('p-0 is balanced automatically again\n'));
      expect((await store.read(name)).leases.map(({ pin }) => pin)).toEqual([undefined]);
    });

    it('answers in JSON', async () => {
      await joined(A, B);
      await taken('p-0', A);
      const json = async (...args: string[]) => JSON.parse((await ask([...args, '--json'])).out);
      expect((await json('show')).fleets).toContain(name);
      expect(await json('show', name)).toMatchObject({
        id: name,
        nodes: [{ node: 'a@1', partitions: 1 }, { node: 'b@1' }],
        partitions: [{ id: 'p-0', owner: 'a@1' }],
      });
      expect(await json('drain', name, 'a')).toMatchObject({ node: 'a@1', status: 'draining' });
      expect(await json('move', name, 'p-0', 'b')).toMatchObject({ id: 'p-0', pin: 'b@1' });
      expect(await json('move', name, 'p-0', '--free')).not.toHaveProperty('pin');
    });

    it('says what does not exist, and which nodes an id matches', async () => {
      await joined(A, B, B2);
      await taken('p-0', A);
      const several = `fleet ${name} has several nodes with the id b: use a key, b@1, b@2`;
      for (const [args, words] of [
        [['show', 'nobody'], 'there is no fleet "nobody"'],
        [['drain', name, 'c'], `fleet ${name} has no node "c": its nodes are a@1, b@1, b@2`],
        [['drain', name, 'b'], several],
        [['move', name, 'p-0', 'b'], several],
        [['move', name, 'p-9', 'a'], `fleet ${name} has no partition "p-9"`],
      ] as const)
        expect(await ask(args)).toEqual(refused(words));
      expect((await store.read(name)).nodes.some(({ draining }) => draining)).toBe(false);
    });
  });

  it('says why it cannot use a table', async () => {
    const { fleet: fleets, task } = flow.stack.addresses.tables;
    const show = (table: string) => ['show', '--table', table];
    expect(await onTable(show('Nowhere'))).toEqual(
      refused(`there is no table Nowhere in ${REGION}. Check the region and the account`),
    );
    expect(await onTable(show(task))).toEqual(refused(`the table ${task} is not a FleetTable`));
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
    expect(await onTable(show(fleets), none)).toEqual(refused('no AWS credentials were found'));
    expect(await onTable(show(fleets), { AWS_REGION: undefined })).toEqual(refused('Set AWS_REGION'));
    expect(await onTable(show(fleets), { AWS_PROFILE: 'nope' })).toEqual(refused('AWS_PROFILE is "nope"'));
    const nobody = { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9', AWS_MAX_ATTEMPTS: '1' };
    expect(await onTable(show(fleets), nobody)).toEqual(refused(`cannot use the table ${fleets}`));
  });

  it('names the missing permission', async () => {
    const aws: Served = await serve((_, response) => {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end('{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"you are not authorized"}');
    });
    try {
      const answer = await onTable(['drain', 'f', 'n', '--table', 'Fleets'], { AWS_ENDPOINT_URL_DYNAMODB: aws.url });
      expect(answer).toEqual(refused('FleetTable.grantOperate'));
      expect(answer.err).toContain('you are not authorized');
    } finally {
      aws.close();
    }
  });

  itAtLength('exits with status 2 for wrong usage, and sends no request', async () => {
    for (const [args, words] of [
      [['show', 'f', '--table', 'x y'], '--table takes the name or ARN of a table'],
      [['show', 'f', '--table', 'Fleets', '--stack', 'S'], '--table cannot be combined with --stack or --api'],
      [
        ['show', 'f', '--table', 'Fleets', '--api', 'http://127.0.0.1:9/v1'],
        '--table cannot be combined with --stack or --api',
      ],
      [['show', '--partitions'], '--partitions needs the name of a fleet'],
      [['show', '..'], 'Give the name of a fleet'],
      [['drain', 'f'], "missing required argument 'node'"],
      [['drain', 'f', ''], 'Give the key or id of a node'],
      [['move', 'f', 'p'], 'give either the key or id of a node, or --free'],
      [['move', 'f', 'p', 'a', '--free'], 'give either the key or id of a node, or --free'],
      [['move', 'f', '.', 'a'], 'Give the id of a partition'],
      [['rename', 'f'], 'unknown command'],
    ] as const)
      expect(await onTable(args)).toEqual({ code: 2, out: '', err: expect.stringContaining(words) });
  });
});

describe('a fleet in the terminal', () => {
  const NOW = Date.parse('2026-01-01T00:10:00Z');
  const iso = (ago: number): string => new Date(NOW - ago).toISOString();
  const node = (fields: Partial<FleetNodeShape> = {}): FleetNodeShape => ({
    node: 'a@1',
    status: 'working',
    ttlSeconds: 30,
    startedAt: iso(600_000),
    lastBeatAt: iso(4_000),
    partitions: 0,
    ...fields,
  });
  const lease = (fields: Partial<FleetPartitionShape> = {}): FleetPartitionShape => ({
    id: 'p',
    status: 'owned',
    owner: 'a@1',
    since: iso(90_000),
    fence: 3,
    ...fields,
  });
  const shown = (nodes: FleetNodeShape[], partitions: FleetPartitionShape[]): string =>
    describeFleet({ id: 'f', nodes, partitions }, NOW);

  it('has no remarks if nothing is wrong', () => {
    expect(shown([node({ partitions: 1 })], [lease()])).toBe(
      [
        'f: 1 node, 1 partition',
        '',
        'NODE  STATUS   PARTITIONS  LAST HEARTBEAT  TTL   STARTED',
        'a@1   working           1  4.0 s ago       30 s  10 min ago',
        '',
        'a@1: p',
      ].join('\n'),
    );
    expect(shown([], [])).toBe('f: 0 nodes, 0 partitions');
  });

  it('names silent nodes, and partitions that are about to move', () => {
    const text = shown([node({ lastBeatAt: iso(31_000) })], [lease({ status: 'asked', next: 'b@1' })]);
    expect(text).toMatch(/\na@1 +working, silent +0 +31 s ago/);
    expect(text).toContain('about to move: p\n');
    expect(text).toContain('silent: no heartbeat for longer than the TTL');
    expect(shown([node({ status: 'evicted', lastBeatAt: iso(99_000) })], [])).not.toContain('silent');
  });

  it('names pinned partitions as long as their node lives', () => {
    const pinned = [
      lease({ id: 'here', pin: 'a@1' }),
      lease({ id: 'gone', pin: 'b@1' }),
      lease({ id: 'dead', pin: 'c@1' }),
    ];
    const text = shown([node(), node({ node: 'c@1', status: 'evicted' })], pinned);
    expect(text).toContain('\npinned to a node: here\n');
  });

  it('says what to do if no node takes the free partitions', () => {
    const free = lease({ status: 'free', owner: undefined });
    expect(shown([node({ status: 'draining' })], [free])).toContain('no node can take them: start a node, or');
    expect(shown([node()], [free])).toContain('takes them within a few cycles');
  });

  it('shows at most twelve partitions, and no control characters', () => {
    const many = Array.from({ length: 30 }, (_, n) => lease({ id: `p-${n}` }));
    expect(shown([node()], many)).toContain('\na@1: p-0 p-1 p-2 p-3 p-4 p-5 p-6 p-7 p-8 p-9 p-10 p-11 … and 18 more');
    const odd = describePartition(lease({ checkpoint: 'a\u001b[2Jb\n' }), NOW);
    expect(odd).toMatch(/\ncheckpoint: a\ufffd\[2Jb\ufffd$/);
    expect(describePartition(lease(), NOW)).toMatch(/\nno checkpoint yet$/);
  });
});
