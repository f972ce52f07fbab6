/**
 * Decides what a node does next, from the rows that it has read and what it remembers of earlier reads. The decision is
 * pure, and follows the same rules in every node.
 *
 * For each partition, a node is in one of these states:
 * - not its own: it may *take* the partition (if it is free and dealt to this node) or *ask* for it (P6, P12);
 * - its own in the table, and the work has not begun: the node *begins*, unless it must give all partitions away;
 * - working: the node continues until another node asks for the partition (*drain*), or the table shows another owner
 *   (*drop*);
 * - draining: the work comes to an end. The node then hands the partition over, without another decision.
 */
import { balance, type Placed, type Plan } from './balance.ts';
import { type Fleet, givesAway, isFree, isMember, type Lease, type Node, type Share } from './fleet.ts';
import { type NodeKey, nodeIdOf, type PartitionId } from './ids.ts';
import { isHeard, isSilent, type Memory } from './silence.ts';
import { FORGET_LOOKS, LEFT_LYING_LOOKS, NEWCOMER_LOOKS } from './timings.ts';

/** A partition that this node holds. */
export interface Holding {
  readonly partition: PartitionId;
  readonly fence: number;
  readonly isDraining: boolean;
}

export interface View {
  readonly me: NodeKey;
  readonly fleet: Fleet;
  readonly memory: Memory;
  readonly shares: readonly Share[];
  readonly holdings: ReadonlyMap<PartitionId, Holding>;
  /** Whether this node gives all of its partitions away and then leaves. */
  readonly isLeaving: boolean;
  /** The partitions that this node released a short time ago, and leaves to other nodes for now. */
  readonly resting?: ReadonlySet<PartitionId>;
  /** P12. Whether other nodes have had time to ask for the partitions that this node gives away. */
  readonly hasGivenNotice?: boolean;
  /** P13. Whether this node ends its work and keeps its partitions for its next life. */
  readonly isRestarting?: boolean;
  /** Whether the thread that works on its partitions shows no sign of life, so that no work could begin. */
  readonly isBlocked?: boolean;
}

/** The fields that identify one owner's lease. */
export type Owned = Pick<Lease, 'partition' | 'fence'>;

export type Action =
  /** This life of the node has ended. */
  | { readonly do: 'go-away' }
  /** P14. Ends this process, because the process of `to` has its name. */
  | { readonly do: 'yield'; readonly to: Node }
  | { readonly do: 'evict'; readonly node: NodeKey; readonly beat: number }
  /** Deletes the row of a node that was evicted long ago. Otherwise every node would continue to read the row. */
  | { readonly do: 'forget'; readonly node: NodeKey }
  | { readonly do: 'take'; readonly lease: Lease }
  | { readonly do: 'ask'; readonly lease: Lease }
  | { readonly do: 'decline'; readonly lease: Lease }
  | { readonly do: 'begin'; readonly lease: Lease }
  /**
   * Ends the work, then gives the partition to the node `to`, which has asked for it. Without `to`, the partition
   * becomes free.
   */
  | { readonly do: 'drain'; readonly lease: Owned; readonly to: NodeKey | undefined }
  /** P13. Ends the work, and keeps the lease for the next life of this node. */
  | { readonly do: 'keep'; readonly lease: Owned }
  | { readonly do: 'drop'; readonly partition: PartitionId };

/** @returns the actions, in the order in which to perform them. */
export const decide = (view: View): readonly Action[] => {
  const nodes = new Map(view.fleet.nodes.map((node) => [node.key, node]));
  const me = nodes.get(view.me);
  if (!me || me.evicted) return [{ do: 'go-away' }];
  const rival = rivalOf(view, me);
  if (rival) return [{ do: 'yield', to: rival }];
  const givesAllAway = view.isLeaving || me.draining === true;
  return [
    ...own(view, givesAllAway),
    ...evictions(view),
    ...forgotten(view),
    ...(view.isRestarting ? keeps(view) : givesAllAway ? giveAway(view, nodes) : giveAndTake(view, nodes)),
  ];
};

/** The other processes that seem to work under this node's name. A node without `restartWithin` may share its name. */
const namesakes = (view: View, me: Node): readonly Node[] =>
  me.restartWithin === undefined
    ? []
    : view.fleet.nodes.filter(
        ({ key, evicted, restarting }) =>
          key !== me.key && nodeIdOf(key) === nodeIdOf(me.key) && !evicted && !restarting,
      );

/**
 * P14. Another live process with this node's name, if this one must leave the fleet. The other has partitions, or has the
 * smaller key. A process that has partitions never leaves because of its name, so one of the two stays.
 */
const rivalOf = (view: View, me: Node): Node | undefined => {
  const owns = (key: NodeKey): boolean => view.fleet.leases.some(({ owner }) => owner === key);
  if (view.isLeaving || view.isRestarting || owns(me.key)) return undefined;
  return namesakes(view, me).find(({ key }) => isHeard(view.memory, key) && (owns(key) || key < me.key));
};

/** P13. Ends the work on all partitions, and keeps them. */
const keeps = ({ me, fleet, holdings }: View): Action[] =>
  fleet.leases
    .filter(({ partition, owner, fence }) => {
      const holding = holdings.get(partition);
      return owner === me && holding?.fence === fence && !holding.isDraining;
    })
    .map((lease): Action => ({ do: 'keep', lease }));

/**
 * Answers the requests of other nodes first. This node then asks for partitions as if the declined requests did not
 * exist. Otherwise two nodes could each count on a request that the other node declines, and ask each other without
 * end.
 */
const giveAndTake = (view: View, nodes: ReadonlyMap<NodeKey, Node>): Action[] => {
  const answers = consent(view, nodes);
  const declined = new Set(answers.flatMap((each) => (each.do === 'decline' ? [each.lease.partition] : [])));
  const leases = view.fleet.leases.map((lease) => (declined.has(lease.partition) ? keptOf(lease) : lease));
  const after = { ...view, fleet: { ...view.fleet, leases } };
  const me = nodes.get(view.me);
  // A process that had this node's name may still work on its partitions, until it is evicted (P14).
  const mustWait = view.isBlocked || (me !== undefined && namesakes(view, me).length > 0 && !ownsAny(view));
  return mustWait ? answers : [...answers, ...wants(after, nodes)];
};

const ownsAny = ({ me, fleet }: View): boolean => fleet.leases.some(({ owner }) => owner === me);

const keptOf = ({ next: _, ...lease }: Lease): Lease => lease;

/**
 * Whether a new node may take free partitions (P10). In a fleet that is at work, a new node may take them at once,
 * because no other nodes start at the same time.
 */
const mayTake = (view: View, nodes: ReadonlyMap<NodeKey, Node>): boolean =>
  maySettle(view) || view.fleet.leases.some((lease) => lease.owner !== view.me && !isFree(lease, nodes));

/** Whether a new node has read the fleet often enough to ask for partitions (P10). */
const maySettle = ({ memory }: View): boolean => memory.looks >= NEWCOMER_LOOKS;

/** Begins the partitions that the table gives to this node, and drops the others. */
const own = ({ me, fleet, holdings, isRestarting }: View, givesAllAway: boolean): Action[] => {
  const mine = new Map(fleet.leases.filter(({ owner }) => owner === me).map((lease) => [lease.partition, lease]));
  const dropped = [...holdings.values()]
    .filter(({ partition, fence }) => mine.get(partition)?.fence !== fence)
    .map(({ partition }): Action => ({ do: 'drop', partition }));
  const begun = [...mine.values()].filter(({ partition, fence }) => holdings.get(partition)?.fence !== fence);
  // The work on these partitions begins in the next life of this node.
  if (isRestarting) return dropped;
  return [
    ...dropped,
    ...begun.map((lease): Action => {
      // The work has not begun, so there is nothing to drain.
      if (givesAllAway) return { do: 'drain', lease, to: undefined };
      return { do: 'begin', lease };
    }),
  ];
};

const evictions = ({ me, fleet, memory }: View): Action[] =>
  fleet.nodes
    .filter((node) => node.key !== me && isSilent(memory, node))
    .map(({ key, beat }): Action => ({ do: 'evict', node: key, beat }));

/**
 * Deletes rows of evicted nodes. Only the first member deletes them. Otherwise, if nodes crash repeatedly, all nodes
 * would read the rows of the crashed nodes for a day.
 */
const forgotten = ({ me, fleet, memory }: View): Action[] => {
  const owners = new Set(fleet.leases.map(({ owner }) => owner));
  // The last life of this node has no partition any more.
  const past = fleet.nodes.filter(({ key, restarting, evicted }) => restarting && !evicted && !owners.has(key));
  const mine = past
    .filter(({ key }) => nodeIdOf(key) === nodeIdOf(me))
    .map(({ key }): Action => ({ do: 'forget', node: key }));
  const [first] = fleet.nodes
    .filter(isMember)
    .map(({ key }) => key)
    .sort();
  if (first !== me) return mine;
  const old = fleet.nodes.filter(
    ({ key, evicted }) => evicted && (memory.sightings.get(key)?.reads ?? 0) >= FORGET_LOOKS,
  );
  return [...mine, ...old.map(({ key }): Action => ({ do: 'forget', node: key }))];
};

/**
 * P12. Gives a partition to the member that has asked for it. A partition that no member has asked for stays here, and
 * is worked on, until the other nodes have had time to ask. Then it becomes free.
 */
const giveAway = ({ me, fleet, holdings, hasGivenNotice }: View, nodes: ReadonlyMap<NodeKey, Node>): Action[] => {
  const isAlone = !fleet.nodes.some(isMember);
  return fleet.leases.flatMap((lease): Action[] => {
    const { partition, owner, fence, next } = lease;
    const holding = holdings.get(partition);
    if (owner !== me || holding?.fence !== fence || holding.isDraining) return [];
    const to = memberOf(next, nodes);
    // A request of a node that is gone would keep other nodes from asking.
    const isUseless = next !== undefined && to === undefined;
    return to !== undefined || isUseless || isAlone || hasGivenNotice ? [{ do: 'drain', lease, to }] : [];
  });
};

/**
 * Answers requests for partitions (P6). A request is granted if the move still balances the loads, or if the partition
 * is pinned to the asking node. Only members get partitions.
 */
const consent = (view: View, nodes: ReadonlyMap<NodeKey, Node>): Action[] => {
  const { me, fleet, holdings } = view;
  const loads = loadsOf(view, nodes);
  const weights = weightsOf(view);
  return fleet.leases.flatMap((lease): Action[] => {
    const { partition, owner, next, pin, fence } = lease;
    const holding = holdings.get(partition);
    if (owner !== me || next === undefined || (holding && (holding.isDraining || holding.fence !== fence))) return [];
    if (!memberOf(next, nodes)) return [{ do: 'decline', lease }];
    const weight = weights.get(partition) ?? 1;
    const [mine, theirs] = [loads.get(me) ?? 0, loads.get(next) ?? 0];
    const pinned = memberOf(pin, nodes);
    // `mine` and `theirs` count the partition as moved already.
    if (pinned ? pinned === next : mine + weight > theirs) return [{ do: 'drain', lease, to: next }];
    loads.set(me, mine + weight);
    loads.set(next, theirs - weight);
    return [{ do: 'decline', lease }];
  });
};

const weightsOf = ({ shares }: View): Map<PartitionId, number> =>
  new Map(shares.map(({ partition, weight }) => [partition, weight]));

/** The node's key, if the node is a member. */
const memberOf = (key: NodeKey | undefined, nodes: ReadonlyMap<NodeKey, Node>): NodeKey | undefined => {
  const node = key === undefined ? undefined : nodes.get(key);
  return node && isMember(node) ? key : undefined;
};

/** The node that has a partition, or is about to get it. Undefined if the partition is free. */
const holderOf = (lease: Lease, nodes: ReadonlyMap<NodeKey, Node>): NodeKey | undefined => {
  if (isFree(lease, nodes)) return undefined;
  // A restarting node answers no request, and keeps its partitions for its next life (P13).
  if (lease.owner !== undefined && nodes.get(lease.owner)?.restarting) return lease.owner;
  return memberOf(lease.next, nodes) ?? lease.owner;
};

/**
 * P13. The next life of a lease's owner, for which the lease waits: a member with the same name. The owner has ended
 * its work (it is restarting), or can never work again (the lease is free).
 */
const heirOf = (lease: Lease, nodes: ReadonlyMap<NodeKey, Node>): NodeKey | undefined => {
  const { owner } = lease;
  if (owner === undefined || !(nodes.get(owner)?.restarting || isFree(lease, nodes))) return undefined;
  const id = nodeIdOf(owner);
  for (const node of nodes.values())
    if (node.restartWithin !== undefined && node.key !== owner && isMember(node) && nodeIdOf(node.key) === id)
      return node.key;
  return undefined;
};

/** P12. Whether the owner gives the partition away, and no node has asked for it yet. */
const isOffered = ({ owner, next }: Lease, nodes: ReadonlyMap<NodeKey, Node>): boolean => {
  const node = owner === undefined ? undefined : nodes.get(owner);
  return node !== undefined && givesAway(node) && next === undefined;
};

const loadsOf = (view: View, nodes: ReadonlyMap<NodeKey, Node>): Map<NodeKey, number> => {
  const weights = weightsOf(view);
  const loads = new Map<NodeKey, number>();
  for (const lease of view.fleet.leases) {
    const [holder, weight] = [holderOf(lease, nodes), weights.get(lease.partition)];
    if (holder !== undefined && weight !== undefined) loads.set(holder, (loads.get(holder) ?? 0) + weight);
  }
  return loads;
};

/** The actions that the plan contains for this node: free partitions to take, and partitions to ask for (P5). */
const wants = (view: View, nodes: ReadonlyMap<NodeKey, Node>): Action[] => {
  const { me } = view;
  const leases = new Map(view.fleet.leases.map((lease) => [lease.partition, lease]));
  const leaseOf = (partition: PartitionId): Lease => leases.get(partition) ?? { partition, fence: 0 };
  const { deals, moves } = planFor(view, nodes);
  const isMine = (partition: PartitionId): boolean => heirOf(leaseOf(partition), nodes) === me;
  const may = mayTake(view, nodes);
  const taken = deals
    .filter(({ partition }) => !view.resting?.has(partition))
    .filter(({ partition, to }) => (may && (to === me || isLeftLying(view, partition))) || isMine(partition))
    .map(({ partition }): Action => {
      const lease = leaseOf(partition);
      // The owner of a lease that may not be taken gives it away, and works until a node has asked for it (P12).
      return { do: isFree(lease, nodes) || isMine(partition) ? 'take' : 'ask', lease };
    });
  const asked = sureOf(maySettle(view) ? moves.filter(({ to }) => to === me) : [], view, nodes).map(
    ({ partition }): Action => ({ do: 'ask', lease: leaseOf(partition) }),
  );
  return [...taken, ...asked];
};

/**
 * The moves to this node that improve the balance now, without counting on moves of other nodes. Each request then
 * makes the sum of the squared loads smaller, counting all requests as granted, and a declined request does not
 * increase it. Therefore the requests come to an end.
 */
const sureOf = (moves: Plan['moves'], view: View, nodes: ReadonlyMap<NodeKey, Node>): Plan['moves'] => {
  const loads = loadsOf(view, nodes);
  const weights = weightsOf(view);
  const pins = new Map(view.fleet.leases.map(({ partition, pin }) => [partition, pin]));
  return moves.filter(({ partition, from, to }) => {
    const weight = weights.get(partition) ?? 1;
    const [theirs, mine] = [loads.get(from) ?? 0, loads.get(to) ?? 0];
    if (theirs - mine <= weight && pins.get(partition) !== to) return false;
    loads.set(from, theirs - weight);
    loads.set(to, mine + weight);
    return true;
  });
};

/**
 * Whether the node to which a partition was dealt has not taken it in time (P11). The configuration of that node may
 * lack the partition.
 */
const isLeftLying = ({ memory }: View, partition: PartitionId): boolean =>
  (memory.free.get(partition) ?? 0) >= LEFT_LYING_LOOKS;

/** The plan for the current state of the fleet. It leaves out partitions that this node's configuration lacks. */
const planFor = ({ fleet, shares }: Pick<View, 'fleet' | 'shares'>, nodes: ReadonlyMap<NodeKey, Node>): Plan => {
  const leases = new Map(fleet.leases.map((lease) => [lease.partition, lease]));
  const placed = shares.map(({ partition, weight }): Placed => {
    const lease = leases.get(partition) ?? { partition, fence: 0 };
    const { since = 0, next, pin } = lease;
    const heir = heirOf(lease, nodes);
    const at = heir !== undefined || isOffered(lease, nodes) ? undefined : holderOf(lease, nodes);
    return { partition, weight, at, pin: memberOf(pin, nodes) ?? heir, mayMove: next === undefined, since };
  });
  return balance(
    fleet.nodes.filter(isMember).map(({ key }) => key),
    placed,
  );
};
