/** What a node decides in each state of a partition, and for each view of the fleet. */
import { describe, expect, it } from 'vitest';
import { type Action, decide, type Holding, type View } from '../../src/domain/fleets/decide.ts';
import type { Lease, Node } from '../../src/domain/fleets/fleet.ts';
import type { PartitionId } from '../../src/domain/fleets/ids.ts';
import { type Memory, NOTHING_SEEN, remember } from '../../src/domain/fleets/silence.ts';
import { aFleet, aLease, aNode, key, partition, shares } from './records.ts';
import { CYCLE } from './simulated-fleet.ts';

interface Situation {
  readonly nodes?: readonly (string | Node)[];
  readonly leases?: readonly Lease[];
  /** How many partitions are shared. */
  readonly of?: number;
  /** The partitions that `me` works on. */
  readonly holdings?: readonly Partial<Holding>[];
  /** How often it has read the fleet in this state. @default 3 */
  readonly looks?: number;
  readonly isLeaving?: boolean;
  readonly isBlocked?: boolean;
  readonly hasGivenNotice?: boolean;
  readonly isRestarting?: boolean;
  /** The nodes whose heartbeats have changed twice. */
  readonly heard?: readonly string[];
}

const looked = (fleet: View['fleet'], shared: View['shares'], looks: number, every = CYCLE): Memory =>
  Array.from({ length: looks }, (_, n) => n * every).reduce(
    (memory, at) => remember(memory, fleet, shared, { from: at, to: at }, CYCLE),
    NOTHING_SEEN,
  );

const heardFrom = ({ sightings, ...memory }: Memory, names: readonly string[]): Memory => ({
  ...memory,
  sightings: new Map(
    [...sightings].map(([node, seen]) => [node, names.map(key).includes(node) ? { ...seen, changes: 2 } : seen]),
  ),
});

const viewOf = ({ nodes = ['me', 'you'], leases = [], of = leases.length, ...rest }: Situation): View => {
  const [fleet, shared] = [aFleet(nodes, leases), shares(of)];
  const holdings = (rest.holdings ?? []).map((each): [PartitionId, Holding] => {
    const holding = { partition: partition(0), fence: 1, isDraining: false, ...each };
    return [holding.partition, holding];
  });
  return {
    me: key('me'),
    fleet,
    shares: shared,
    memory: heardFrom(looked(fleet, shared, rest.looks ?? 3), rest.heard ?? []),
    holdings: new Map(holdings),
    isLeaving: rest.isLeaving ?? false,
    isBlocked: rest.isBlocked ?? false,
    hasGivenNotice: rest.hasGivenNotice ?? false,
    isRestarting: rest.isRestarting ?? false,
  };
};

/** The actions, one text each. */
const said = (situation: Situation): string[] =>
  decide(viewOf(situation)).map((action: Action) => {
    switch (action.do) {
      case 'go-away':
        return 'go away';
      case 'evict':
        return `evict ${action.node} ${action.beat}`;
      case 'yield':
        return `yield to ${action.to.key}`;
      case 'forget':
        return `forget ${action.node}`;
      case 'drop':
        return `drop ${action.partition}`;
      case 'drain':
        return `drain ${action.lease.partition} for ${action.to ?? 'any node'}`;
      default:
        return `${action.do} ${action.lease.partition}`;
    }
  });

const mine = (name: number, fields: Parameters<typeof aLease>[1] = {}) => aLease(name, { owner: 'me', ...fields });
const yours = (name: number, fields: Parameters<typeof aLease>[1] = {}) => aLease(name, { owner: 'you', ...fields });
const holding = (name: number, fields: Partial<Holding> = {}) => ({ partition: partition(name), ...fields });

describe('a partition', () => {
  const ROWS: Readonly<Record<string, Situation>> = {
    'is owned': { leases: [mine(0), yours(1)] },
    'is owned under a later fence': { leases: [mine(0, { fence: 2 }), yours(1)] },
    'is owned, and asked for': { leases: [mine(0, { next: 'you' }), mine(1)] },
    'is another node’s': { leases: [yours(0), mine(1)] },
    'is free': { leases: [aLease(0), yours(1)] },
    'is a gone node’s': { leases: [aLease(0, { owner: 'gone' }), yours(1)] },
    'has no row': { leases: [yours(1)] },
  };
  const HANDS: Readonly<Record<string, readonly Partial<Holding>[]>> = {
    nothing: [],
    working: [{}],
    draining: [{ isDraining: true }],
  };
  const rest = (leases: readonly Lease[] = []) =>
    leases.flatMap((each) => (each.partition === '1' && each.owner === 'me@1' ? [holding(1)] : []));

  it.each([
    ['is owned', 'nothing', ['begin 0']],
    ['is owned', 'working', []],
    ['is owned', 'draining', []],
    ['is owned under a later fence', 'nothing', ['begin 0']],
    ['is owned under a later fence', 'working', ['drop 0', 'begin 0']],
    ['is owned under a later fence', 'draining', ['drop 0', 'begin 0']],
    ['is owned, and asked for', 'nothing', ['begin 0', 'drain 0 for you@1']],
    ['is owned, and asked for', 'working', ['drain 0 for you@1']],
    ['is owned, and asked for', 'draining', []],
    ['is another node’s', 'nothing', []],
    ['is another node’s', 'working', ['drop 0']],
    ['is another node’s', 'draining', ['drop 0']],
    ['is free', 'nothing', ['take 0']],
    ['is free', 'working', ['drop 0', 'take 0']],
    ['is free', 'draining', ['drop 0', 'take 0']],
    ['is a gone node’s', 'nothing', ['take 0']],
    ['is a gone node’s', 'working', ['drop 0', 'take 0']],
    ['has no row', 'nothing', ['take 0']],
    ['has no row', 'working', ['drop 0', 'take 0']],
  ])('%s; work: %s; actions: %j', (row, hands, expected) => {
    const situation = ROWS[row] as Situation;
    const holdings = [...(HANDS[hands] ?? []), ...rest(situation.leases)];
    expect(said({ ...situation, of: 2, holdings })).toEqual(expected);
  });
});

describe('a node that gives all away', () => {
  const WHY: Readonly<Record<string, Situation>> = {
    leaving: { isLeaving: true },
    draining: { nodes: [aNode('me', { draining: true }), 'you'] },
  };
  it.each(Object.entries(WHY))('drains its work, gives unbegun partitions and takes none: %s', (_, why) => {
    const leases = [mine(0), mine(1, { next: 'you' }), mine(2), aLease(3)];
    const holdings = [holding(0), holding(1), holding(2, { isDraining: true })];
    const afterNotice = { ...why, leases, hasGivenNotice: true };
    expect(said({ ...afterNotice, holdings })).toEqual(['drain 0 for any node', 'drain 1 for you@1']);
    expect(said({ ...why, leases, holdings: [] })).toEqual([
      'drain 0 for any node',
      'drain 1 for any node',
      'drain 2 for any node',
    ]);
  });

  it.each(Object.entries(WHY))('works until another node asks, or there is none: %s', (_, why) => {
    const leases = [mine(0), mine(1, { next: 'you' }), mine(2, { next: 'gone' })];
    const holdings = [holding(0), holding(1), holding(2)];
    expect(said({ ...why, leases, holdings })).toEqual(['drain 1 for you@1', 'drain 2 for any node']);
    const me = aNode('me', { draining: true });
    for (const other of [{ leaving: true }, { draining: true }, { evicted: true }] as const)
      expect(said({ ...why, nodes: [me, aNode('you', other)], leases: [mine(0)], holdings: [holding(0)] })).toEqual([
        'drain 0 for any node',
      ]);
  });

  it.each(Object.entries(WHY))('still drops lost partitions and evicts silent nodes: %s', (_, why) => {
    expect(said({ ...why, leases: [yours(0)], holdings: [holding(0)], looks: 9 })).toEqual(['drop 0', 'evict you@1 1']);
  });

  it('takes its share again once it no longer drains', () => {
    const leases = [yours(0), yours(1), yours(2), yours(3)];
    const draining = { nodes: [aNode('me', { draining: true }), 'you'], leases };
    expect(said(draining)).toEqual([]);
    expect(said({ ...draining, nodes: ['me', 'you'] })).toEqual(['ask 3', 'ask 2']);
  });

  it('gives nothing to nodes that leave, drain or were evicted', () => {
    for (const fields of [{ leaving: true }, { draining: true }, { evicted: true }] as const) {
      const nodes = ['me', aNode('you', fields)];
      expect(said({ nodes, of: 4 })).toEqual(['take 0', 'take 1', 'take 2', 'take 3']);
      const asked = [mine(0, { next: 'you' }), mine(1), mine(2)];
      const holdings = [holding(0), holding(1), holding(2)];
      expect(said({ nodes, leases: asked, holdings })).toEqual(['decline 0']);
    }
  });

  it('is asked by the other nodes, each for its share', () => {
    const nodes = ['me', 'third', aNode('you', { draining: true })];
    const leases = [yours(0), yours(1), yours(2), yours(3, { next: 'third' })];
    expect(said({ nodes, leases })).toEqual(['ask 0', 'ask 1']);
  });

  it('is not asked for partitions that the other node lacks', () => {
    const nodes = ['me', aNode('you', { leaving: true })];
    expect(said({ nodes, leases: [yours(0), yours(1), yours(2)], of: 1 })).toEqual(['ask 0']);
  });

  it('is not asked again while the request of a gone node is stored', () => {
    const nodes = ['me', aNode('you', { leaving: true })];
    expect(said({ nodes, leases: [yours(0, { next: 'gone' })] })).toEqual([]);
  });
});

describe('a node whose name is kept', () => {
  const [now, then] = ['me', 'me@0'];
  const kept = { restartWithin: 60_000 };
  const me = aNode(now, kept);
  const past = (fields: Partial<Node> = {}) => aNode(then, { ...kept, restarting: true, ...fields });
  const its = (name: number) => aLease(name, { owner: then });

  it('takes exactly the partitions of its last process at first', () => {
    const leases = [its(0), yours(1), its(2), yours(3), aLease(4)];
    expect(said({ nodes: [me, past(), 'you'], leases, looks: 1 })).toEqual(['take 0', 'take 2', 'take 4']);
    expect(said({ nodes: [me, past({ evicted: true }), 'you'], leases: [its(0), its(1), yours(2)] })).toEqual([
      'take 0',
      'take 1',
    ]);
  });

  it('gives nothing to others while it restarts and afterwards', () => {
    const leases = [its(0), its(1), yours(2)];
    expect(said({ nodes: [now, 'you', past()], leases })).toEqual([]);
    const others = { nodes: ['you', past()], leases: [its(0), its(1), aLease(2, { owner: 'third' })], of: 3 };
    expect(decide({ ...viewOf(others), me: key('you') })).toMatchObject([{ do: 'take', lease: { partition: '2' } }]);
  });

  it('moves nothing while it restarts, even if it was asked', () => {
    const leases = [its(0), aLease(1, { owner: then, next: 'you' }), yours(2), aLease(3, { owner: 'third' })];
    const view = viewOf({ nodes: ['you', 'third', past()], leases });
    for (const name of ['you', 'third']) expect(decide({ ...view, me: key(name) })).toMatchObject([{ do: 'begin' }]);
  });

  it('that leaves anyway does not yield', () => {
    const nodes = [me, aNode(then, kept)];
    expect(said({ nodes, leases: [its(0)], heard: [then], isLeaving: true })).toEqual([]);
  });

  it('deletes the row of its last process when that has no partition', () => {
    expect(said({ nodes: [me, past()], leases: [mine(0)], holdings: [holding(0)] })).toEqual(['forget me@0']);
    expect(said({ nodes: [aNode('you'), me, aNode('third@0', { ...kept, restarting: true })] })).toEqual([]);
  });

  it('takes nothing while a process with its name may be alive', () => {
    const nodes = [me, past({ restarting: undefined } as never), 'you'];
    expect(said({ nodes, leases: [its(0), its(1), aLease(2)] })).toEqual([]);
    expect(said({ nodes: ['me', 'me@0'], of: 2 }), 'without the option').toEqual(['take 1']);
  });

  it('yields to a live process with partitions or a smaller key', () => {
    const alive = aNode(then, kept);
    expect(said({ nodes: [me, alive], leases: [its(0)], heard: [then] })).toEqual(['yield to me@0']);
    expect(said({ nodes: [me, alive], heard: [then] })).toEqual(['yield to me@0']);
    expect(said({ nodes: [me, alive], leases: [its(0)] }), 'its heartbeat has not changed').toEqual([]);
    expect(said({ nodes: [me, aNode('me@2', kept)], heard: ['me@2'] })).toEqual([]);
    const has = { leases: [mine(0), its(1)], holdings: [holding(0)] };
    expect(said({ nodes: [me, alive], heard: [then], ...has }), 'it has partitions itself').toEqual([]);
  });

  it('that stops keeps its partitions and begins nothing', () => {
    const leases = [mine(0), mine(1, { next: 'you' }), mine(2), mine(3), aLease(4)];
    const holdings = [holding(0), holding(1), holding(2, { isDraining: true })];
    expect(said({ nodes: [me, 'you'], leases, holdings, isRestarting: true })).toEqual(['keep 0', 'keep 1']);
  });
});

describe('a node that is asked', () => {
  const having = (names: readonly number[]) => names.map((name) => holding(name));

  it('gives as many as makes the loads even, and declines the rest', () => {
    const leases = [0, 1, 2, 3].map((name) => mine(name, { next: 'you' }));
    expect(said({ leases, holdings: having([0, 1, 2, 3]) })).toEqual([
      'decline 0',
      'decline 1',
      'drain 2 for you@1',
      'drain 3 for you@1',
    ]);
  });

  it('declines if the asker has as much by now', () => {
    const leases = [mine(0, { next: 'you' }), mine(1), yours(2)];
    expect(said({ leases, holdings: having([0, 1]) })).toEqual(['decline 0']);
  });

  it('declines if the asker is gone', () => {
    const leases = [mine(0, { next: 'gone' }), mine(1)];
    expect(said({ leases, holdings: having([0, 1]) })).toEqual(['decline 0']);
  });

  it('counts partitions that it declines as its own, once', () => {
    const leases = [mine(0, { next: 'gone' }), mine(1, { next: 'you' }), yours(2)];
    expect(said({ leases, holdings: having([0, 1]) })).toEqual(['decline 0', 'decline 1']);
  });

  it('does not ask because of what it declines, as its peer declines too', () => {
    const leases = [mine(0, { next: 'you' }), mine(1, { next: 'you' }), mine(2), yours(3), yours(4), yours(5)];
    expect(said({ leases, holdings: having([0, 1, 2]) })).toEqual(['decline 0', 'decline 1']);
  });

  it('does not ask back for a partition that it gives', () => {
    const leases = [mine(0, { next: 'you' }), mine(1), mine(2)];
    expect(said({ leases, holdings: having([0, 1, 2]) })).toEqual(['drain 0 for you@1']);
  });

  it('consents before its third look, too', () => {
    const leases = [mine(0, { next: 'you' }), mine(1)];
    expect(said({ leases, holdings: having([0, 1]), looks: 1 })).toEqual(['drain 0 for you@1']);
  });
});

describe('a pinned partition', () => {
  it('is asked for by its node, even or not, and given to it', () => {
    const leases = [yours(0, { pin: 'me' }), mine(1), mine(2)];
    expect(said({ leases, holdings: [holding(1), holding(2)] })).toEqual(['ask 0']);
    const asked = [mine(0, { pin: 'you', next: 'you' }), yours(1), yours(2)];
    expect(said({ leases: asked, holdings: [holding(0)] })).toContain('drain 0 for you@1');
  });

  it('is not given away by its node, whichever node asked before', () => {
    const leases = [mine(0, { pin: 'me', next: 'you' }), mine(1), mine(2)];
    expect(said({ leases, holdings: [holding(0), holding(1), holding(2)] })).toContain('decline 0');
  });

  it('is given to its node only, whichever node asked before', () => {
    const nodes = ['me', 'you', 'third'];
    const leases = [mine(0, { pin: 'third', next: 'you' }), mine(1), mine(2)];
    const holdings = [holding(0), holding(1), holding(2)];
    expect(said({ nodes, leases, holdings })).toEqual(['decline 0']);
  });

  it.each(['gone', 'drained'])('may go to any node if its node is %s', (pin) => {
    const nodes = ['me', 'you', aNode('drained', { draining: true })];
    const leases = [mine(0, { pin, next: 'you' }), mine(1)];
    expect(said({ nodes, leases, holdings: [holding(0), holding(1)] })).toEqual(['drain 0 for you@1']);
    expect(said({ nodes, leases: [aLease(0, { pin }), yours(1)] })).toEqual(['take 0']);
  });
});

describe('a node', () => {
  it('takes and asks for nothing before its third look (P10)', () => {
    for (const leases of [[], [yours(0), yours(1), yours(2)]]) {
      expect(said({ leases, of: 3, looks: 1 })).toEqual([]);
      expect(said({ leases, of: 3, looks: 2 })).toEqual([]);
      expect(said({ leases, of: 3, looks: 3 })).not.toEqual([]);
    }
  });

  it('takes free partitions at its first look if others work, and asks later', () => {
    const leases = [yours(0), yours(1), aLease(2)];
    expect(said({ leases, of: 3, looks: 1 })).toEqual(['take 2']);
    expect(said({ leases: [yours(0), yours(1), yours(2), aLease(3)], of: 4, looks: 1 })).toEqual(['take 3']);
  });

  it('deletes the row of a long evicted life if it is the first member', () => {
    const gone = aNode('gone', { evicted: true });
    const forgets = (situation: Situation) => said(situation).filter((each) => each.startsWith('forget'));
    expect(forgets({ nodes: ['me', 'you', gone], leases: [], looks: 120 })).toEqual([]);
    expect(forgets({ nodes: ['me', 'you', gone], leases: [], looks: 121 })).toEqual(['forget gone@1']);
    expect(forgets({ nodes: ['me', 'another', gone], leases: [], looks: 121 })).toEqual([]);
  });

  it('takes and asks for nothing while its work is blocked', () => {
    for (const leases of [[], [yours(0), yours(1), yours(2)]]) {
      expect(said({ leases, of: 3, isBlocked: true })).toEqual([]);
      expect(said({ leases, of: 3 })).not.toEqual([]);
    }
  });

  it('stops and does nothing else if its row is gone or evicted', () => {
    const leases = [mine(0), aLease(1)];
    expect(said({ nodes: ['you'], leases })).toEqual(['go away']);
    expect(said({ nodes: [aNode('me', { evicted: true }), 'you'], leases, isLeaving: true })).toEqual(['go away']);
  });

  it('evicts another node that is silent for its Ttl, with the heartbeat that it saw', () => {
    expect(said({ looks: 7 })).toEqual(['evict you@1 1']);
    expect(said({ looks: 6 })).toEqual([]);
    expect(said({ nodes: ['me', aNode('you', { evicted: true })], looks: 9 })).toEqual([]);
    expect(said({ nodes: ['me', aNode('you', { leaving: true, beat: 4 })], looks: 9 })).toEqual(['evict you@1 4']);
  });

  it.each([
    { kind: 'with a row', leases: [aLease(0), aLease(1), aLease(2), aLease(3)] },
    { kind: 'that never had a row', leases: [] },
  ])('takes all partitions that are free for five looks: $kind', ({ leases }) => {
    const before = { leases, of: 4, looks: 4 };
    expect(said(before)).toEqual(['take 0', 'take 2']);
    expect(said({ ...before, looks: 5 })).toEqual(['take 0', 'take 1', 'take 2', 'take 3']);
  });

  it('takes no partition that it does not share', () => {
    expect(said({ leases: [aLease(0), aLease(7)], of: 2, looks: 9, nodes: ['me'] })).toEqual(['take 0', 'take 1']);
  });
});
