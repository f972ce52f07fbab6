/**
 * Bugs of fan-outs, from drafts and earlier versions, or invented to prove that the judges find them. Each bug replaces
 * a step, or changes the answers of the store.
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
import * as scenarios from './fan-out-scenarios.ts';

type Change = (store: FanOuts, deps: FanOutDeps) => Partial<FanOuts>;

const withStore = <Deps extends FanOutDeps>(deps: Deps, change: Change): Deps => ({
  ...deps,
  fanOuts: { ...deps.fanOuts, ...change(deps.fanOuts, deps) },
});
/** Puts the bug into the store of every process. */
const store = (change: Change): Patched => ({ deps: (deps) => withStore(deps, change) });
/** Puts the bug only into the store that acks use, or only into the one that the patrol uses. */
const acking = (change: Change): Patched => ({
  steps: { ackItems: (deps, acks) => ackItems(withStore(deps, change), acks) },
});
const patrolling = (change: Change): Patched => ({
  steps: {
    patrolFanOuts: (deps, mayGoOn) => patrolFanOuts(withStore(deps, change), mayGoOn),
    visit: (deps, id, mayGoOn) => visit(withStore(deps, change), id, mayGoOn),
  },
});

/** T4 in the wrong order: the header is read first, so neither the ack nor a concurrent seal sees the last item. */
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

/**
 * T5 without its second half: the seal does not read the nodes, so items that were done before the seal do not complete
 * the fan-out.
 */
const sealReadsNoNodes: Patched = {
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

/** A repeated ack is counted twice. */
const repeatedAckCounted = acking(
  changed((acked, slots) => {
    const { node } = acked;
    if (acked.isWritten || !node || node.left === 0) return acked;
    return { isWritten: true, node: { ...node, left: Math.max(0, node.left - slots) } };
  }),
);
/** A repeated ack assumes that the earlier ack has updated the nodes above. */
const repeatedAckDoesNotClimb = acking(
  changed((acked) =>
    acked.isWritten || acked.node?.left !== 0 ? acked : { ...acked, node: { ...acked.node, left: 1 } },
  ),
);
/**
 * T7 without repeats: only the first ack records that an item failed. If its function crashes before, no function
 * records the failure.
 */
const repeatedAckNotesNoFailures = acking(
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

/** Failures are summed only over finished groups, when a group with failures ends. */
const failuresNotSummed = acking(() => ({ beginSum: async () => false }));

/** The sum misses the groups that are not finished. */
const sumIgnoresGroups = acking(() => ({ counts: async (_, positions) => positions.map(() => undefined) }));

/** T11. The end takes the number of failed items from the top node, which corrections leave as it is. */
const endIgnoresCorrections = store(() => ({ noteCorrection: async () => {} }));

/** T11. A correction is written like an ack, over any outcome. A late ack of the first run undoes it. */
const lateAckUndoesCorrection = store(({ ack, removeNodes, putNode, node, width }) => ({
  ack: async (id, position, slots) => {
    const acked = await ack(id, position, slots);
    if (acked.isWritten || position.level > 0 || slots.failed === 0) return acked;
    const shown = await node(id, position);
    const [index] = [...slots.slots.keys()];
    if (!shown || shown.left > 0 || shown.slots.length !== width || index === undefined) return acked;
    const before = new Map(shown.slots.map((slot, n) => [n, n === index ? false : slot === true]));
    await removeNodes(id, [position]);
    await putNode(id, position, {
      slots: before,
      failed: [...before.values()].filter((ok) => !ok).length,
      at: slots.at,
    });
    return acked;
  },
}));

/** T12. After the end, the redrive of one failed item is reported as that of the last one. */
const lastRedriveNotChecked = acking(({ counts, read }) => ({
  counts: async (id, positions) => {
    const found = await counts(id, positions);
    return (await read(id))?.ended ? found.map((each) => each && { ...each, failed: 0 }) : found;
  },
}));

/** T13. A notice counts as sent when it is noted. If the function dies before it sends the event, no other does. */
const noticeCountsAsSent = store(({ note, noticeSent }) => ({
  note: async (id, what, checkAt) => {
    const noted = await note(id, what, checkAt);
    await noticeSent(id, what.notice);
    return noted;
  },
}));

/** A late ack creates the missing row. */
const lateAckCreatesRow = acking(({ ack, putGroups, width }) => ({
  ack: async (id, position, slots) => {
    const acked = await ack(id, position, slots);
    if (acked.isWritten || acked.node || position.level > 0) return acked;
    await putGroups(id, [{ n: position.n, size: width }], slots.at);
    return ack(id, position, slots);
  },
}));

/** A node climbs when all items below it are done, although more items may be added. */
const nodeClimbsBeforeSeal = acking(({ read }) => ({
  read: async (id) => {
    const fanOut = await read(id);
    return fanOut?.status === 'open' ? { ...fanOut, status: 'sealed' } : fanOut;
  },
}));

/** If two children of a node climb first at the same time, the second child writes the node anew. */
const parentWrittenAnew = acking(({ putNode, removeNodes }) => ({
  putNode: async (id, position, slots) => {
    await removeNodes(id, [position]);
    return putNode(id, position, slots);
  },
}));

/** A repeated addition writes the groups anew. */
const groupWrittenAnew = store(({ putGroups, removeNodes }) => ({
  putGroups: async (id, groups, at) => {
    await removeNodes(
      id,
      groups.map(({ n }) => ({ level: 0, n })),
    );
    await putGroups(id, groups, at);
  },
}));

/** T2 without its second read of the token: the items were added, and the fan-out was sealed, between the two reads. */
const additionTokenReadOnce: Patched = {
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

/** If a producer repeats an addition because the answer was lost, more items are added. */
const additionIgnoresToken: Patched = {
  steps: { addItems: (deps, id, count) => addItems(deps, id, count, deps.machine.token()) },
};

/** The event is sent before the end is stored, and storing the end may fail. */
const eventSentFirst = store(({ end }, { queues }) => ({
  end: async (id, ending) => {
    if (ending.event) await queues.callbacks([ending.event]);
    return end(id, ending);
  },
}));

/** The patrol assumes that a stored event was sent. */
const storedEventNotSent: Patched = {
  steps: {
    patrolFanOuts: (deps, mayGoOn) =>
      patrolFanOuts({ ...deps, queues: { ...deps.queues, callbacks: async () => {} } }, mayGoOn),
  },
};

const ending = (change: (ending: Parameters<FanOuts['end']>[1]) => Parameters<FanOuts['end']>[1]): Patched =>
  store(({ end }) => ({ end: (id, each) => end(id, change(each)) }));
const withoutVersion = ({ version: _, ...rest }: Parameters<FanOuts['end']>[1]) => rest;

/** The fan-out expires although an addition or a seal came after the read that decided so. */
const expiryIgnoresAddition = ending((each) => (each.because === 'idle' ? withoutVersion(each) : each));
/**
 * The fan-out fails fast although items were added after the read that decided so. The event does not count these
 * items.
 */
const failFastIgnoresAddition = ending((each) => (each.because === 'too-many-failed' ? withoutVersion(each) : each));
/** Every end is stored, even if the fan-out has already ended. */
const endWithoutCondition = ending((each) => ({
  ...withoutVersion(each),
  from: ['open', 'sealed', 'complete', 'expired'],
}));

/** A group without a row counts as large as its row may be, so too many items are reported as pending. */
const countsIgnoreMissingRows = patrolling(({ end, counts, node, width }) => {
  let [groups, missing] = [0, 0];
  return {
    counts: async (id, positions) => {
      const found = await counts(id, positions);
      if (positions.some(({ level }) => level === 0)) {
        groups += found.reduce((sum, each) => sum + (each?.left ?? width), 0);
        missing += found.filter((each) => !each).length;
      }
      return found;
    },
    node: (id, position) => {
      if (position.level === 1 && position.n === 0) [groups, missing] = [0, 0];
      return node(id, position);
    },
    end: (id, each) => end(id, each.because === 'idle' && missing > 0 ? { ...each, pending: groups } : each),
  };
});

/** A fan-out expires by its age, even if items are still being acked. */
const expiryByAge = patrolling(({ read, node, counts }) => ({
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

/** The patrol reads only the nodes that have rows, and misses children that are done but did not climb. */
const patrolIgnoresChildren = patrolling(() => ({ counts: async (_, positions) => positions.map(() => undefined) }));

/**
 * The patrol does not check the top node if the node climbed before the seal, because such a node has no empty slot.
 */
const patrolIgnoresTop = patrolling(({ node }) => ({
  node: async (id, position) => (position.level === 0 ? undefined : node(id, position)),
}));

/**
 * If a function seals a fan-out without items and then dies, no node can climb. The patrol does not complete such a
 * fan-out.
 */
const patrolIgnoresEmptyFanOuts = patrolling(({ end }) => ({
  end: async (id, each) => each.because !== 'all-done' && end(id, each),
}));

/** The patrol continues a walk with numbers of nodes that denote other nodes after groups were added. */
const walkIgnoresAddition = patrolling(({ read }) => ({
  read: async (id) => {
    const fanOut = await read(id);
    return fanOut?.walk ? { ...fanOut, walk: { ...fanOut.walk, groups: fanOut.groups } } : fanOut;
  },
}));

/**
 * A process that read a fan-out before its deletion writes a row after the deletion. Rows are deleted only once, so
 * this row remains.
 */
const rowsDeletedOnce = patrolling(({ checkAgain, bury, read }) => ({
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
  ['header read before the node is written', headerIsReadFirst, UNDONE, scenarios.acksDuringSeal],
  ['seal does not read the nodes', sealReadsNoNodes, UNDONE],
  ['repeated ack counted twice', repeatedAckCounted, /^a slot is set only/],
  ['repeated ack does not climb', repeatedAckDoesNotClimb, AGAIN],
  ['repeated ack does not note failed items', repeatedAckNotesNoFailures, AGAIN, scenarios.failuresAreAckedAgain],
  [
    'failures not summed while acks arrive',
    failuresNotSummed,
    /^too many failures are found in time/,
    scenarios.steadyFailures,
  ],
  ['sum ignores unfinished groups', sumIgnoresGroups, /^too many failures are found in time/, scenarios.steadyFailures],
  ['end ignores corrections', endIgnoresCorrections, /^the stored number of failed items/, scenarios.redrives],
  ['late ack undoes a correction', lateAckUndoesCorrection, /^a set slot never|^the first outcome/, scenarios.redrives],
  ['last redrive not checked', lastRedriveNotChecked, /^all items have succeeded when/, scenarios.redrives],
  ['notice counts as sent', noticeCountsAsSent, /^a noted event is sent/, scenarios.redrives],
  ['late ack creates a row', lateAckCreatesRow, /^a group has as many slots/],
  ['node climbs before the seal', nodeClimbsBeforeSeal, /^a slot is set only when no more items/],
  ['parent node written anew', parentWrittenAnew, UNDONE],
  ['group written anew', groupWrittenAnew, ITEM],
  ['token of an addition read once', additionTokenReadOnce, /^the items of a refused token are not counted/],
  ['token of an addition ignored', additionIgnoresToken, /^a token returns the same items/],
  ['event sent before the end is stored', eventSentFirst, /^all copies of the event are equal/],
  ['stored event not sent by the patrol', storedEventNotSent, /^an event is removed only after/],
  [
    'expiry ignores a concurrent addition',
    expiryIgnoresAddition,
    /^a fan-out does not expire soon after an addition/,
    scenarios.additionsDuringExpiry,
  ],
  [
    'early end ignores a concurrent addition',
    failFastIgnoresAddition,
    /^an event reports the stored end/,
    scenarios.additionsDuringFailures,
  ],
  [
    'end written without a condition',
    endWithoutCondition,
    /^(the end of a fan-out never changes|a status only changes|a fan-out ends once)/,
  ],
  [
    'counts ignore missing rows',
    countsIgnoreMissingRows,
    /^an (expired fan-out stores the right counts|event reports the stored counts)/,
  ],
  ['expiry by age, not by idle time', expiryByAge, /^a fan-out does not expire soon after/],
  [
    'patrol ignores child nodes',
    patrolIgnoresChildren,
    /^a fan-out (does not expire soon after an ack|whose items are all done)/,
  ],
  ['patrol ignores the top node', patrolIgnoresTop, /^a fan-out whose items are all done/, scenarios.sealersDie],
  [
    'patrol ignores empty fan-outs',
    patrolIgnoresEmptyFanOuts,
    /^a fan-out whose items are all done/,
    scenarios.withoutItems,
  ],
  ['walk continues after an addition', walkIgnoresAddition, /^the stored number of failed items|^it fails fast/],
  ['rows deleted only once', rowsDeletedOnce, /^an ended fan-out leaves no rows/],
];
