/** Bugs that show only under load: many slots, waiting Targets or inputs, or busy Targets that share few functions. */

import { isFinished } from '../../src/domain/batches/batch.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import { type Millis, type OperationName, operationOf } from '../../src/domain/ids.ts';
import { batchOfSlot, type Slot } from '../../src/domain/operations/slots.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Operations } from '../../src/ports/operations.ts';
import type { Queues } from '../../src/ports/queues.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { isSlotOver } from '../../src/steps/slots/pages.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Bug, KnownBug } from './bug.ts';
import * as scenarios from './load-scenarios.ts';

/** Every step that takes or frees slots keeps all slots in one row, whatever their number. */
const inOneRow = (...owners: readonly ('locks' | 'operations')[]): Bug => {
  const change = <Some extends Pick<Deps, 'locks' | 'operations'>>(deps: Some): Some => ({
    ...deps,
    ...Object.fromEntries(owners.map((owner) => [owner, { ...deps[owner], pageSize: 1_000 }])),
  });
  return {
    electLeader: (deps, message) => electLeader(change(deps), message),
    group: (deps, message, delivery) => group(change(deps), message, delivery),
    handleBatch: (deps, message, delivery) => handleBatch(change(deps), message, delivery),
    sweep: (deps, invocation) => sweep(change(deps), invocation),
  };
};

/**
 * As in release 0.2.0: all slots of an operation are in the operation's row, so the cost of each slot grows with the
 * number of slots.
 */
const operationSlotsInOneRow = inOneRow('operations');

/** All batches in flight of a Target are in its lock row. */
const targetSlotsInOneRow = inOneRow('locks');

/** The sweep checks all slots one after another, and leaves only the remaining time to the patrol. */
const slotSweepTakesAllTime: Bug = {
  sweep: async (deps, invocation) => {
    const { operations } = deps;
    for (const operation of Object.keys(deps.config.operations) as OperationName[]) {
      const pages = await operations.slotPagesEventually(operation, 1_000);
      const slots = [...(await operations.read(operation)).inFlight, ...pages.flatMap((page) => page.slots)];
      for (const slot of slots) if (await isSlotOver(deps, slot)) await operations.freeSlot(operation, slot);
    }
    const read: Operations['read'] = async (operation) => ({ ...(await operations.read(operation)), inFlight: [] });
    const swept = { ...operations, read, slotPagesEventually: async () => [] };
    return sweep({ ...deps, operations: swept }, invocation);
  },
};

/** A sealed batch of a paused Target keeps its slot. */
const pausedTargetKeepsSlots: Bug = {
  handleBatch: (deps, message, delivery) => {
    const freeSlot: Operations['freeSlot'] = async (operation, slot, page) => {
      const batch = await deps.batches.get(batchOfSlot(slot));
      return batch && !isFinished(batch.status) ? undefined : deps.operations.freeSlot(operation, slot, page);
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, freeSlot } }, message, delivery);
  },
};

/**
 * The patrol searches for a Target in only the first hundred rows of the slot queue. If the queue has more rows, the
 * patrol assumes that the Target is among them.
 */
const patrolSearchesFirstRows: Bug = {
  sweep: (deps, invocation) => {
    const isWaiting: Operations['isWaiting'] = async (operation, { target, fence }) => {
      const first = await deps.operations.waiting(operation, 100);
      return first.length === 100 || first.some((each) => each.target === target && each.fence === fence);
    };
    return sweep({ ...deps, operations: { ...deps.operations, isWaiting } }, invocation);
  },
};

/** All requests of a batch are one job, however many inputs they have. */
const jobInputsUnlimited: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, config: withOperations(deps.config, () => ({ merge: null })) }, message, delivery),
};

const HOUR: Millis = 3_600_000;

/**
 * A leader continues for as long as its function may run, and sleeps until its next batch is due. Other Targets wait
 * for the function.
 */
const leaderNeverHandsOver: Bug = {
  group: (deps, message, delivery) => {
    let asked = 0;
    // The first reading of the clock is the leader's start.
    const now = (): Millis => deps.machine.now() + (asked++ === 0 ? HOUR : 0);
    return group({ ...deps, machine: { ...deps.machine, now } }, message, delivery);
  },
};

/**
 * If its operation has no free slot, a leader frees its Target's slot before it blocks the Target. Another delivery may
 * have opened the batch.
 */
const slotFreedBeforeBlock: Bug = {
  group: (deps, message, delivery) => {
    let mine: { slot: Slot; page: number } | undefined;
    const takeSlot: Locks['takeSlot'] = (target, slot, most, page = 0) => {
      mine = { slot, page };
      return deps.locks.takeSlot(target, slot, most, page);
    };
    const block: Locks['block'] = async (target, held, read) => {
      const pages = mine ? [] : await deps.locks.slotPagesEventually(target, 1_000);
      const slot = `${target}#${held.fence}#${read.round + 1}` as Slot;
      const page = mine?.page ?? pages.find((each) => each.slots.includes(slot))?.page;
      if (page !== undefined) await deps.locks.freeSlot(target, slot, page);
      return deps.locks.block(target, held, read);
    };
    return group({ ...deps, locks: { ...deps.locks, takeSlot, block } }, message, delivery);
  },
};

/** The Target of a finished batch gets a leader at once, although other Targets wait for a slot of its operation. */
const busyTargetLeadsFirst: Bug = {
  handleBatch: (deps, message, delivery) => {
    const waiting: Operations['waiting'] = async (operation, limit) => {
      // A read of two rows checks whether other Targets wait.
      if (limit === 2) return [];
      // This request is slow, so that the next leader is usually faster than the woken Target.
      await deps.machine.sleep(200);
      return deps.operations.waiting(operation, limit);
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, waiting } }, message, delivery);
  },
};

/** When a batch finishes, its Target is signalled only if all slots of the Target's current cap were taken. */
const raisedCapSendsNoSignal: Bug = {
  handleBatch: (deps, message, delivery) => {
    let hadFreeSlot = false;
    const releaseSlot: Locks['releaseSlot'] = async (target, batch) => {
      const before = await deps.locks.releaseSlot(target, batch);
      const { perTarget } = operationFor(deps.config, operationOf(target)).concurrency;
      const { inFlight = [] } = before;
      hadFreeSlot = perTarget === null || (inFlight.includes(batch) && inFlight.length < perTarget);
      return before;
    };
    const elect: Queues['elect'] = async (messages) => {
      if (!hadFreeSlot) await deps.queues.elect(messages);
    };
    const changed = { locks: { ...deps.locks, releaseSlot }, queues: { ...deps.queues, elect } };
    return handleBatch({ ...deps, ...changed }, message, delivery);
  },
};

/** A Target whose cap fits its lock row counts only the batches in that row. */
const loweredCapIgnoresPages: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = (target, mine, { largestCap: _, ...open }) =>
      deps.locks.openBatch(target, mine, open);
    return group({ ...deps, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/**
 * No function records that an operation has slots on further pages. If the cap fits into the row, only slots in the row
 * count then.
 */
const withoutNotedCap = <Some extends Pick<Deps, 'operations'>>(deps: Some): Some => ({
  ...deps,
  operations: { ...deps.operations, noteCap: async () => {} },
});

const loweredTotalIgnoresPages: Bug = {
  group: (deps, message, delivery) => group(withoutNotedCap(deps), message, delivery),
  handleBatch: (deps, message, delivery) => handleBatch(withoutNotedCap(deps), message, delivery),
};

export const LOAD_BUGS: readonly KnownBug[] = [
  ['all slots of an operation in one row', operationSlotsInOneRow, /at most slotsPerPage slots/, scenarios.manySlots],
  ['all slots of a Target in one row', targetSlotsInOneRow, /at most slotsPerPage slots/, scenarios.manySlotsOfATarget],
  [
    'sweep of slots leaves no time for the patrol',
    slotSweepTakesAllTime,
    /every sweep reaches its patrol/,
    scenarios.slowSweeps,
  ],
  [
    'paused Target keeps its slots',
    pausedTargetKeepsSlots,
    /a paused Target gives its slots/,
    scenarios.pausedWhileWaiting,
  ],
  [
    'patrol searches only 100 rows of the slot queue',
    patrolSearchesFirstRows,
    /the patrol finds each Target/,
    scenarios.forgottenAmongMany,
  ],
  [
    'inputs of a merged job not limited',
    jobInputsUnlimited,
    /no more inputs than its function can remember/,
    scenarios.manyInputs,
  ],
  ['leader never hands over', leaderNeverHandsOver, /longer than maxWait|is sealed at once/, scenarios.busyTarget],
  ['raised cap sends no signal', raisedCapSendsNoSignal, /every registered task ends/, scenarios.changedCap(1, 3)],
  [
    'lowered perTarget ignores further pages',
    loweredCapIgnoresPages,
    /at most perTarget batches/,
    scenarios.changedCap(4, 2),
  ],
  [
    'lowered total ignores further pages',
    loweredTotalIgnoresPages,
    /at most total (batches|calls)/,
    scenarios.loweredTotal,
  ],
  [
    'busy Target leads before waiting Targets',
    busyTargetLeadsFirst,
    /overtakes a waiting Target/,
    scenarios.twoBusyTargets,
  ],
  [
    'slot freed before the Target is blocked',
    slotFreedBeforeBlock,
    /freed only after|at most perTarget/,
    scenarios.pausedAsBatchesOpen,
  ],
];
