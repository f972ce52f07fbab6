import { expect, it } from 'vitest';
import type { FleetNode, FleetPartition } from '../../../src/api/fleets/responses.ts';
import { examplePayload } from '../../../tools/console/page/src/model/example-payload.ts';
import { colourOf, inOrder, letterOf, shares, spokenPartition } from '../../../tools/console/page/src/model/fleet.ts';
import {
  batchState,
  fanOutWords,
  listWords,
  sealedBecause,
  taskState,
} from '../../../tools/console/page/src/model/words.ts';
import { ago } from './kit.ts';

it('an example payload has the values of a Target, or else each configured key', () => {
  const of = (target: string | undefined, keys: readonly string[] = []) =>
    JSON.parse(examplePayload('ship', target, keys)) as unknown;
  expect(of('ship/carrier=D%2FHL/route.from=M%7EUC~3')).toEqual({ carrier: 'D/HL', route: { from: 'M~UC' } });
  expect(of(undefined, ['carrier', 'route.from', 'route.to'])).toEqual({
    carrier: 'example',
    route: { from: 'example', to: 'example' },
  });
  expect(of('ship')).toEqual({});
});

it('states and reasons have texts, and unknown codes are shown as they are', () => {
  expect(taskState('created')).toEqual({ tone: 'idle', word: 'waiting' });
  expect(batchState('partly-failed')).toEqual({ tone: 'warn', word: 'partly failed' });
  expect(taskState('sleeping')).toEqual({ tone: 'idle', word: 'sleeping' });
  expect(sealedBecause('flush')).toBe('a user flushed its Target');
  expect(sealedBecause('new-reason')).toBe('new-reason');
});

it('the progress of a fan-out or a list has a text', () => {
  const fanOut = {
    id: 'f',
    status: 'sealed' as const,
    total: 10,
    succeeded: 6,
    failed: 1,
    pending: 3,
    createdAt: ago(1),
  };
  expect(fanOutWords(fanOut)).toBe('6 succeeded, 1 failed, 3 pending');
  expect(fanOutWords({ ...fanOut, succeeded: undefined, pending: undefined })).toBe(
    '1 failed; the other items are not counted',
  );
  expect(fanOutWords({ ...fanOut, total: 0, status: 'open' })).toBe('no items yet');
  const list = {
    id: 'l',
    status: 'open' as const,
    total: 10,
    available: 4,
    leased: 0,
    started: 2,
    done: 4,
    failed: 1,
    createdAt: ago(1),
  };
  expect(listWords(list)).toBe('4 done, 1 of them failed, 2 started, 4 available');
});

it('partitions are in numeric order, each with the letter of its owner', () => {
  const node = (name: string, partitions: number): FleetNode => ({
    node: name,
    id: name,
    beat: 1,
    status: 'working',
    ttlSeconds: 30,
    startedAt: ago(9),
    lastBeatAt: ago(1),
    partitions,
  });
  const nodes = Array.from({ length: 28 }, (_, index) => node(`n${index}`, index < 2 ? 1 : 0));
  expect([letterOf(nodes, 'n0'), letterOf(nodes, 'n25'), letterOf(nodes, 'n26'), letterOf(nodes, 'gone')]).toEqual([
    'A',
    'Z',
    'AA',
    '',
  ]);
  expect(colourOf(nodes, 'n9')).toBe(1);
  const partition = (id: string, fields: Partial<FleetPartition> = {}): FleetPartition => ({
    id,
    status: 'owned',
    owner: 'n0',
    fence: 1,
    ...fields,
  });
  const free: FleetPartition = { id: '2', status: 'free', lastOwner: 'n1', fence: 3 };
  expect(inOrder([partition('10'), free]).map(({ id }) => id)).toEqual(['2', '10']);
  expect(shares(nodes, [partition('10'), free])).toBe('n0 has 1, n1 has 1, 1 free');
  expect(spokenPartition(free)).toBe('partition 2, free, previous owner n1');
  expect(spokenPartition(partition('3', { status: 'asked', next: 'n1', pin: 'n1' }))).toBe(
    'partition 3, owner n0, moves to n1, pinned to n1',
  );
});
