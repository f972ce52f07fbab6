import { beforeEach, describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey } from '../../src/domain/fleets/ids.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { memoryStores } from '../ports/stores.ts';
import { type StepKit, stepKit } from '../steps/step-kit.ts';

const [A, B, B2] = [nodeOf('a'), nodeOf('b'), nodeOf('b@2')];
const F = fleet('flights');
const iso = (at: number): string => new Date(at).toISOString();

describe('the HTTP API of fleets', () => {
  let kit: StepKit;
  let failures: unknown[];
  beforeEach(() => {
    kit = stepKit(memoryStores());
    failures = [];
  });

  const ask = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
    const app = api({ ...kit, newId: () => 'new', onError: (cause) => void failures.push(cause) });
    const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await app.request(`/v1/fleets${path}`, { method, ...init });
    const answer = (await response.json()) as Record<string, unknown>;
    expect(failures).toEqual([]);
    if (response.status >= 400) expect(response.headers.get('content-type')).toBe('application/problem+json');
    return { code: response.status, ...answer };
  };
  const drain = (node: string, draining = true) =>
    ask(`/flights/nodes/${encodeURIComponent(node)}/drain`, { draining });
  const move = (id: string, to: string | null) => ask(`/flights/partitions/${encodeURIComponent(id)}/move`, { to });
  const joined = async (...keys: readonly NodeKey[]): Promise<void> => {
    for (const key of keys) await kit.fleets.join(F, aNode({ key }));
  };
  const taken = async (id: string, by: NodeKey, name: FleetName = F): Promise<Lease> =>
    (await kit.fleets.take(name, { partition: partition(id), fence: 0 }, by, NOW)) as Lease;
  const nodes = async () => (await kit.fleets.read(F)).nodes;
  const leases = async () => (await kit.fleets.read(F)).leases;

  it('lists the fleets that a node has joined', async () => {
    expect(await ask('')).toEqual({ code: 200, fleets: [] });
    await joined(A);
    await kit.fleets.join(fleet('catalog'), aNode());
    expect(await ask('')).toEqual({ code: 200, fleets: ['catalog', 'flights'] });
  });

  it('shows nodes and partitions with their states', async () => {
    await joined(A, B, nodeOf('c'), nodeOf('d'), nodeOf('e'));
    await kit.fleets.beat(F, { key: A, beat: 7, ttl: 42_500, beatAt: NOW + 9_000 });
    await kit.fleets.drain(F, B, true);
    await kit.fleets.beat(F, { key: nodeOf('c'), beat: 1, ttl: 30_000, beatAt: NOW, leaving: true });
    const [mine, asked, gone, given] = [
      await taken('p-0', A),
      await taken('p-1', A),
      await taken('p-2', nodeOf('d')),
      await taken('p-3', B),
      await taken('p-4', nodeOf('x')),
    ] as const;
    await kit.fleets.evict(F, nodeOf('d'), 0, NOW);
    await kit.fleets.checkpoint(F, held(mine), '{"offset":12}', 1);
    await kit.fleets.ask(F, asked, nodeOf('e'));
    await kit.fleets.ask(F, gone, nodeOf('e'));
    await kit.fleets.pin(F, partition('p-1'), nodeOf('e'));
    await kit.fleets.handOver(F, held(given), undefined, NOW);
    const node = { beat: 0, ttlSeconds: 30, startedAt: iso(NOW), lastBeatAt: iso(NOW), partitions: 0 };
    const lease = { fence: 1, since: iso(NOW) };
    expect(await ask('/flights')).toEqual({
      code: 200,
      id: 'flights',
      checkpointsApart: true,
      nodes: [
        {
          ...node,
          node: 'a@1',
          id: 'a',
          status: 'working',
          beat: 7,
          ttlSeconds: 42.5,
          lastBeatAt: iso(NOW + 9_000),
          partitions: 2,
        },
        { ...node, node: 'b@1', id: 'b', status: 'draining' },
        { ...node, node: 'c@1', id: 'c', status: 'leaving', beat: 1 },
        { ...node, node: 'd@1', id: 'd', status: 'evicted', partitions: 1 },
        { ...node, node: 'e@1', id: 'e', status: 'working' },
      ],
      partitions: [
        { ...lease, id: 'p-0', status: 'owned', owner: 'a@1' },
        { ...lease, id: 'p-1', status: 'asked', owner: 'a@1', next: 'e@1', pin: 'e@1' },
        { ...lease, id: 'p-2', status: 'free', lastOwner: 'd@1', next: 'e@1' },
        { id: 'p-3', status: 'free', fence: 1 },
        { ...lease, id: 'p-4', status: 'free', lastOwner: 'x@1' },
      ],
    });
  });

  it('shows a fleet that all nodes have left, but no unknown one', async () => {
    await joined(A);
    await kit.fleets.leave(F, A);
    expect(await ask('/flights')).toEqual({
      code: 200,
      id: 'flights',
      nodes: [],
      partitions: [],
      checkpointsApart: true,
    });
    for (const name of ['nobody', '~fleets', 'a%20b', 'x'.repeat(129)])
      for (const answer of [
        await ask(`/${name}`),
        await ask(`/${name}/nodes/a/drain`, { draining: true }),
        await ask(`/${name}/partitions/p/move`, { to: null }),
      ])
        expect(answer).toMatchObject({
          code: 404,
          detail: `there is no fleet ${JSON.stringify(decodeURIComponent(name))}: no node has ever joined a fleet of that name`,
        });
    expect(await ask('')).toEqual({ code: 200, fleets: ['flights'] });
  });

  it('shows a partition with its checkpoint, from either kind of row', async () => {
    await joined(A);
    const [inLease, apart, none] = [await taken('p-0', A), await taken('p-1', A), await taken('p-2', A)] as const;
    await kit.fleets.checkpoint(F, held(inLease), '{"offset":12}', 1);
    for (const lease of [apart, none]) await kit.fleets.open(F, lease);
    await kit.fleets.checkpoint(F, { ...held(apart), checkpointApart: true }, '{"offset":34}', 1);
    const owned = { code: 200, status: 'owned', owner: 'a@1', fence: 1, since: iso(NOW) };
    expect(await ask('/flights/partitions/p-0')).toEqual({ ...owned, id: 'p-0', checkpoint: '{"offset":12}' });
    expect(await ask('/flights/partitions/p-1')).toEqual({ ...owned, id: 'p-1', checkpoint: '{"offset":34}' });
    expect(await ask('/flights/partitions/p-2')).toEqual({ ...owned, id: 'p-2' });
    expect(await ask('/flights/partitions/x')).toMatchObject({ code: 404 });
  });

  it('separates checkpoints unless a node of an older release is there', async () => {
    await taken('p-0', A);
    await joined(A);
    const separate = () => ask('/flights/separate-checkpoints', '');
    expect(await separate()).toMatchObject({ code: 409, detail: expect.stringMatching(/: replace a@1 first$/) });
    await kit.fleets.evict(F, A, 0, NOW);
    await kit.fleets.join(F, aNode({ key: B, readsApart: true }));
    for (const _ of ['once', 'again'])
      expect(await separate()).toMatchObject({ code: 200, id: 'flights', checkpointsApart: true });
    expect(await ask('/flights/separate-checkpoints', { any: 1 })).toMatchObject({ code: 400 });
  });

  it('drains a node by key or id, repeatedly, and resumes it', async () => {
    await joined(A, B);
    for (const name of ['a@1', 'a', 'a'])
      expect(await drain(name)).toMatchObject({ code: 200, node: 'a@1', id: 'a', status: 'draining' });
    expect(await nodes()).toEqual([aNode({ draining: true }), aNode({ key: B })]);
    for (const name of ['a', 'a@1'])
      expect(await drain(name, false)).toMatchObject({ code: 200, node: 'a@1', status: 'working' });
    expect(await nodes()).toEqual([aNode(), aNode({ key: B })]);
  });

  it('drains the last working node too, with a warning', async () => {
    await joined(A, B, nodeOf('c'));
    await kit.fleets.evict(F, nodeOf('c'), 0, NOW);
    expect(await drain('a')).not.toHaveProperty('warning');
    const warning = expect.stringContaining('no node of fleet flights takes partitions now');
    expect(await drain('b')).toMatchObject({ code: 200, status: 'draining', warning });
    expect(await drain('b', false)).not.toHaveProperty('warning');
  });

  it('accepts an id only if one living node has it, and names the nodes', async () => {
    await joined(B, B2, A);
    const several = 'fleet flights has several nodes with the id b: use a key, b@1, b@2';
    await taken('p', A);
    for (const answer of [await drain('b'), await move('p', 'b')])
      expect(answer).toMatchObject({ code: 409, detail: several });
    const none = 'fleet flights has no node "c": its nodes are a@1, b@1, b@2';
    for (const answer of [await drain('c'), await move('p', 'c')])
      expect(answer).toMatchObject({ code: 404, detail: none });
    await kit.fleets.evict(F, B, 0, NOW);
    expect(await drain('b')).toMatchObject({ code: 200, node: 'b@2' });
    expect((await nodes()).map(({ key, draining = false }) => [key, draining])).toEqual([
      [A, false],
      [B, false],
      [B2, true],
    ]);
    expect((await leases()).map(({ pin }) => pin)).toEqual([undefined]);
  });

  it('does not change a node that was evicted, or that has just left', async () => {
    await joined(A, B);
    await kit.fleets.evict(F, A, 0, NOW);
    await taken('p', B);
    for (const answer of [await drain('a@1'), await drain('a@1', false), await move('p', 'a@1')])
      expect(answer).toMatchObject({ code: 409, detail: expect.stringContaining('a@1 was evicted') });
    const store = kit.fleets;
    const goes = { ...store, drain: async () => false, pin: async () => false };
    kit = { ...kit, fleets: goes };
    expect(await drain('b')).toMatchObject({ code: 404, detail: 'fleet flights has no node "b@1": it has no nodes' });
    expect(await move('p', 'b')).toMatchObject({ code: 404, detail: expect.stringContaining('has no partition "p"') });
    const afterwards = async () => ({ nodes: [], leases: [] });
    let reads = 0;
    const leaves = { ...store, read: (name: FleetName) => (reads++ === 0 ? store.read(name) : afterwards()) };
    kit = { ...kit, fleets: leaves };
    expect(await drain('b')).toMatchObject({ code: 404 });
  });

  it('pins a partition to a node, and unpins it', async () => {
    await joined(A, B);
    await taken('p', A);
    expect(await move('p', 'b')).toEqual({
      code: 200,
      id: 'p',
      status: 'owned',
      owner: 'a@1',
      pin: 'b@1',
      since: iso(NOW),
      fence: 1,
    });
    expect(await move('p', 'a@1')).toMatchObject({ code: 200, pin: 'a@1' });
    for (const _ of ['once', 'again']) expect(await move('p', null)).not.toHaveProperty('pin');
    expect(await leases()).toEqual([{ partition: 'p', owner: A, fence: 1, since: NOW }]);
  });

  it('moves nothing to a leaving node, and warns if a node is draining', async () => {
    await joined(A, B);
    await taken('p', A);
    await drain('b');
    const warning = 'node b@1 is draining: it gets the partition when its draining ends';
    expect(await move('p', 'b')).toMatchObject({ code: 200, pin: 'b@1', warning });
    await kit.fleets.beat(F, { key: A, beat: 1, ttl: 30_000, beatAt: NOW, leaving: true });
    expect(await move('p', 'a')).toMatchObject({ code: 409, detail: expect.stringContaining('a@1 is shutting down') });
    expect((await leases()).map(({ pin }) => pin)).toEqual([B]);
  });

  it('answers 404 to a partition that no node ever took', async () => {
    await joined(A);
    for (const id of ['p', '~', '__proto__'])
      expect(await move(id, 'a')).toMatchObject({ code: 404, detail: expect.stringContaining(`no partition "${id}"`) });
    expect(await leases()).toEqual([]);
  });

  it('refuses an invalid request with all problems, and changes nothing', async () => {
    await joined(A);
    await taken('p', A);
    const [draining, moving] = ['/flights/nodes/a/drain', '/flights/partitions/p/move'];
    for (const [path, body, errors] of [
      [
        draining,
        {},
        [
          {
            path: 'draining',
            reason: expect.stringContaining('must be true (the node gives its partitions away) or false'),
          },
        ],
      ],
      [draining, { draining: 'yes' }, [{ path: 'draining', reason: expect.stringContaining('must be true') }]],
      [draining, { draining: true, node: 'b' }, [{ path: 'node', reason: 'is unknown; known are draining' }]],
      [draining, '[]', [{ path: '', reason: 'the body must be a JSON object' }]],
      [moving, {}, [{ path: 'to', reason: expect.stringContaining('or null') }]],
      [moving, { to: 7 }, [{ path: 'to', reason: expect.stringContaining('or null') }]],
      [moving, { to: '' }, [{ path: 'to', reason: expect.stringContaining('or null') }]],
      [moving, { to: 'a', dryRun: true }, [{ path: 'dryRun', reason: 'is unknown; known are to' }]],
      [`${moving}?to=a`, { to: null }, [{ path: 'to', reason: expect.stringContaining('is not a query parameter') }]],
    ] as const)
      expect(await ask(path, body)).toMatchObject({ code: 400, errors });
    expect(await ask('/flights?partitions=true')).toMatchObject({ code: 400 });
    expect(await kit.fleets.read(F)).toEqual({
      nodes: [aNode()],
      leases: [{ partition: 'p', owner: A, fence: 1, since: NOW }],
      checkpointsApart: true,
    });
  });

  it('answers 405 with the allowed methods', async () => {
    for (const [path, method, allowed] of [
      ['', 'POST', 'GET'],
      ['/flights', 'DELETE', 'GET'],
      ['/flights/nodes/a/drain', 'GET', 'POST'],
      ['/flights/partitions/p/move', 'PUT', 'POST'],
    ])
      expect(await ask(path as string, undefined, method)).toMatchObject({
        code: 405,
        detail: expect.stringContaining(`allows ${allowed}, not ${method}`),
      });
    expect(await ask('/flights/nodes/a')).toMatchObject({ code: 404 });
  });
});
