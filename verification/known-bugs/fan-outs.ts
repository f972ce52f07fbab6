/**
 * Bugs of fan-outs that were made once, by drafts of the rules, by this code or to try the checker. They stand in for single
 * steps, or for what the store answers.
 */

import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Acked, FanOuts } from '../../src/ports/fan-outs.ts';
import type { FanOutDeps } from '../../src/steps/deps.ts';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';
import type { FanOutScenario, Patched } from '../fan-outs/scenario.ts';
import type { Known } from './bug.ts';
import * as where from './where-fan-outs.ts';

type Change = (store: FanOuts, deps: FanOutDeps) => Partial<FanOuts>;

const withStore = <Deps extends FanOutDeps>(deps: Deps, change: Change): Deps => ({
  ...deps,
  fanOuts: { ...deps.fanOuts, ...change(deps.fanOuts, deps) },
});
/** Everybody's store does so. */
const store = (change: Change): Patched => ({ deps: (deps) => withStore(deps, change) });
/** Somebody's does. */
const acking = (change: Change): Patched => ({
  steps: { ackItems: (deps, acks) => ackItems(withStore(deps, change), acks) },
});
const patrolling = (change: Change): Patched => ({
  steps: {
    patrolFanOuts: (deps, mayGoOn) => patrolFanOuts(withStore(deps, change), mayGoOn),
    visit: (deps, id, mayGoOn) => visit(withStore(deps, change), id, mayGoOn),
  },
});

/** T4 the other way round: the header is read first, and whoever seals meanwhile does not see the nodes either. */
const headerIsReadFirst = acking(({ ack, read }) => {
  const seen = new Map<FanOutId, FanOut | undefined>();
  return {
    ack: async (id, position, slots) => {
      if (!seen.has(id)) seen.set(id, await read(id));
      return ack(id, position, slots);
    },
    read: async (id) => seen.get(id) ?? read(id),
  };
});

/** T5 without its second half: what was done before the seal completes nothing. */
const sealDoesNotLook: Patched = {
  steps: {
    seal: (deps, id) =>
      seal(
        withStore(deps, () => ({ node: async () => undefined })),
        id,
      ),
  },
};

const changed = (change: (acked: Acked, slots: number) => Acked): Change => {
  return ({ ack }) => ({
    ack: async (id, position, slots) => change(await ack(id, position, slots), slots.slots.size),
  });
};

/** What is acked twice is counted twice. */
const acksAreCounted = acking(
  changed((acked, slots) => {
    const { node } = acked;
    if (acked.isWritten || !node || node.left === 0) return acked;
    return { isWritten: true, node: { ...node, left: Math.max(0, node.left - slots) } };
  }),
);
/** Somebody who acks again takes it that whoever acked before has climbed. */
const repeatsDoNotClimb = acking(
  changed((acked) =>
    acked.isWritten || acked.node?.left !== 0 ? acked : { ...acked, node: { ...acked.node, left: 1 } },
  ),
);
/** T7 without repeats: what failed is noted by whoever writes it, or by nobody. */
const repeatsDoNotNote = acking(
  changed((acked) =>
    acked.isWritten || !acked.node
      ? acked
      : {
          ...acked,
          node: {
            ...acked.node,
            slots: acked.node.slots.map((slot) => slot ?? null).map((slot) => slot === false || slot),
          },
        },
  ),
);

/** A late ack makes the row that it misses. */
const acksMakeRows = acking(({ ack, putGroups, width }) => ({
  ack: async (id, position, slots) => {
    const acked = await ack(id, position, slots);
    if (acked.isWritten || acked.node || position.level > 0) return acked;
    await putGroups(id, [{ n: position.n, size: width }], slots.at);
    return ack(id, position, slots);
  },
}));

/** Nodes climb when all that there is below them is done, though more may come. */
const openNodesClimb = acking(({ read }) => ({
  read: async (id) => {
    const fanOut = await read(id);
    return fanOut?.status === 'open' ? { ...fanOut, status: 'sealed' } : fanOut;
  },
}));

/** Of two first children of a node the second puts it anew. */
const parentsArePutAnew = acking(({ putNode, removeNodes }) => ({
  putNode: async (id, position, slots) => {
    await removeNodes(id, [position]);
    return putNode(id, position, slots);
  },
}));

/** Who adds again puts the groups anew. */
const groupsArePutAnew = store(({ putGroups, removeNodes }) => ({
  putGroups: async (id, groups, at) => {
    await removeNodes(
      id,
      groups.map(({ n }) => ({ level: 0, n })),
    );
    await putGroups(id, groups, at);
  },
}));

/** T2 without its second look: it was added to, and then sealed, between the two reads. */
const tokenIsReadOnce: Patched = {
  steps: {
    addItems: (deps, id, count, token) => {
      let isClosed = false;
      const change: Change = ({ read, reservation }) => ({
        read: async (each) => {
          const fanOut = await read(each);
          isClosed = fanOut?.status !== 'open';
          return fanOut;
        },
        reservation: async (each, named) => (isClosed ? undefined : reservation(each, named)),
      });
      return addItems(withStore(deps, change), id, count, token);
    },
  },
};

/** Whoever adds again after an unknown answer adds anew. */
const tokensAreOverlooked: Patched = {
  steps: { addItems: (deps, id, count) => addItems(deps, id, count, deps.machine.token()) },
};

/** The event goes out, and then the change is made that it tells of, or not. */
const eventsComeFirst = store(({ end }, { queues }) => ({
  end: async (id, ending) => {
    if (ending.event) await queues.callbacks([ending.event]);
    return end(id, ending);
  },
}));

/** The patrol takes it that an event was sent. */
const eventsAreNotSentAgain: Patched = {
  steps: {
    patrolFanOuts: (deps, mayGoOn) =>
      patrolFanOuts({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, mayGoOn),
  },
};

const ending = (change: (ending: Parameters<FanOuts['end']>[1]) => Parameters<FanOuts['end']>[1]): Patched =>
  store(({ end }) => ({ end: (id, each) => end(id, change(each)) }));
const withoutVersion = ({ version: _, ...rest }: Parameters<FanOuts['end']>[1]) => rest;

/** Who adds or seals just then is not noticed. */
const expiryOverlooksAdds = ending((each) => (each.because === 'idle' ? withoutVersion(each) : each));
/** Found by simulation: who adds just then has items that the event does not count. */
const failFastOverlooksAdds = ending((each) => (each.because === 'too-many-failed' ? withoutVersion(each) : each));
/** The last to come ends it, whoever ended it before. */
const endsHaveNoCondition = ending((each) => ({
  ...withoutVersion(each),
  from: ['open', 'sealed', 'complete', 'expired'],
}));

/** A fan-out may be so old, whatever happens in it. */
const expiryIsByAge = patrolling(({ read, node, counts }) => ({
  read: async (id) => {
    const fanOut = await read(id);
    return fanOut && { ...fanOut, touchedAt: fanOut.createdAt };
  },
  node: async (id, position) => {
    const found = await node(id, position);
    return found && { ...found, seenAt: 0 };
  },
  counts: async (id, positions) => (await counts(id, positions)).map((each) => each && { ...each, seenAt: 0 }),
}));

/** The patrol looks at the nodes that have a row, and at nobody who did not climb. */
const patrolDoesNotLookDown = patrolling(() => ({ counts: async (_, positions) => positions.map(() => undefined) }));

/** Found by simulation: a top that had climbed before the seal has no empty slot, and the patrol did not look at it. */
const patrolOverlooksTheTop = patrolling(({ node }) => ({
  node: async (id, position) => (position.level === 0 ? undefined : node(id, position)),
}));

/** Found by simulation: one that was sealed empty by somebody who died has no node to climb from. */
const patrolOverlooksTheEmpty = patrolling(({ end }) => ({
  end: async (id, each) => each.because !== 'all-done' && end(id, each),
}));

/** Found by simulation: a walk goes on by numbers that stand for other nodes once more groups were added. */
const walksOverlookAdds = patrolling(({ read }) => ({
  read: async (id) => {
    const fanOut = await read(id);
    return fanOut?.walk ? { ...fanOut, walk: { ...fanOut.walk, groups: fanOut.groups } } : fanOut;
  },
}));

/** Found by simulation: who saw a fan-out before it was deleted puts a row once its rows are gone. */
const rowsGoOnce = patrolling(({ checkAgain, bury, read }) => ({
  checkAgain: async (id, seen, next) => {
    const fanOut = await read(id);
    if (!fanOut?.ended || next.walk) return checkAgain(id, seen, next);
    await bury(id, next.checkAt);
    return true;
  },
}));

const UNDONE = /^without faults the patrol repairs nothing/;
const AGAIN = /^a repeated call gets the same answer/;
const ITEM = /^the first outcome of an item stands/;

export const FAN_OUT_BUGS: readonly Known<Patched, FanOutScenario>[] = [
  ['a header that is read before the node is written', headerIsReadFirst, UNDONE, where.acksMeetTheSeal],
  ['a seal that does not look', sealDoesNotLook, UNDONE],
  ['acks that are counted', acksAreCounted, /^a slot is set only/],
  ['repeated acks that do not climb', repeatsDoNotClimb, AGAIN],
  ['repeated acks that do not note what failed', repeatsDoNotNote, AGAIN, where.failuresAreAckedAgain],
  ['late acks that make rows', acksMakeRows, /^a group has as many slots/],
  ['nodes that climb while more may come', openNodesClimb, /^a slot is set only when no more items/],
  ['parents that are put anew', parentsArePutAnew, UNDONE],
  ['groups that are put anew', groupsArePutAnew, ITEM],
  ['a token that is read once', tokenIsReadOnce, /^the items of a refused token are not counted/],
  ['tokens that are overlooked', tokensAreOverlooked, /^a token returns the same items/],
  ['events that come before what they tell of', eventsComeFirst, /^all copies of the event are equal/],
  ['events that are not sent again', eventsAreNotSentAgain, /^an event is removed only after/],
  [
    'an expiry that overlooks who adds',
    expiryOverlooksAdds,
    /^a fan-out does not expire soon after an addition/,
    where.addsMeetTheExpiry,
  ],
  [
    'an early end that overlooks who adds',
    failFastOverlooksAdds,
    /^an event reports the stored end/,
    where.addsMeetFailures,
  ],
  [
    'ends without a condition',
    endsHaveNoCondition,
    /^(the end of a fan-out never changes|a status only changes|a fan-out ends once)/,
  ],
  ['an expiry by age', expiryIsByAge, /^a fan-out does not expire soon after/],
  [
    'a patrol that does not look down',
    patrolDoesNotLookDown,
    /^a fan-out (does not expire soon after an ack|whose items are all done)/,
  ],
  ['a patrol that overlooks the top', patrolOverlooksTheTop, /^a fan-out whose items are all done/, where.sealersDie],
  [
    'a patrol that overlooks the empty',
    patrolOverlooksTheEmpty,
    /^a fan-out whose items are all done/,
    where.nobodyAdds,
  ],
  ['walks that overlook who adds', walksOverlookAdds, /^the stored number of failed items|^it fails fast/],
  ['rows that go once', rowsGoOnce, /^an ended fan-out leaves no rows/],
];
