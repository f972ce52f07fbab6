/** Bugs that show where there is much of something: slots, Targets that wait, inputs, or busy Targets for few functions. */

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
import * as where from './where-many.ts';

/** All steps that take slots or free them keep as many in a row. */
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

/** As release 0.2.0 did it: all slots of an operation are in its row, and each costs more with every other one. */
const slotsAreInOneRow = inOneRow('operations');

/** The same of a Target: all its batches in flight are in its lock. */
const batchesAreInOneLock = inOneRow('locks');

/** The sweep of slots begins with the first one, looks at one after the other, and leaves what is left of its time to the patrol. */
const slotsAreSweptFirst: Bug = {
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

/** A sealed batch of a paused Target keeps its slot from the others. */
const pausedTargetsKeepTheirSlots: Bug = {
  handleBatch: (deps, message, delivery) => {
    const freeSlot: Operations['freeSlot'] = async (operation, slot, page) => {
      const batch = await deps.batches.get(batchOfSlot(slot));
      return batch && !isFinished(batch.status) ? undefined : deps.operations.freeSlot(operation, slot, page);
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, freeSlot } }, message, delivery);
  },
};

/** The patrol looks for a Target among the first hundred that wait, and takes it for one of those behind them if there are more. */
const theForgottenAreTakenForOthers: Bug = {
  sweep: (deps, invocation) => {
    const isWaiting: Operations['isWaiting'] = async (operation, { target, fence }) => {
      const first = await deps.operations.waiting(operation, 100);
      return first.length === 100 || first.some((each) => each.target === target && each.fence === fence);
    };
    return sweep({ ...deps, operations: { ...deps.operations, isWaiting } }, invocation);
  },
};

/** All requests of a batch are one job, however many inputs they have. */
const jobsHaveNoEnd: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, config: withOperations(deps.config, () => ({ merge: null })) }, message, delivery),
};

const HOUR: Millis = 3_600_000;

/** A leader goes on for as long as its function may, and sleeps until its next batch is due: others wait for the function. */
const leadersNeverHandOver: Bug = {
  group: (deps, message, delivery) => {
    let asked = 0;
    // The first time that is asked for is when the leader began.
    const now = (): Millis => deps.machine.now() + (asked++ === 0 ? HOUR : 0);
    return group({ ...deps, machine: { ...deps.machine, now } }, message, delivery);
  },
};

/** A leader that finds no room in its operation gives its Target's slot back first, though another delivery may have opened its batch. */
const slotsAreFreedBeforeTheBlock: Bug = {
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

/** The Target of a batch that is over is led again at once, though others wait for a slot of its operation. */
const busyTargetsGoFirst: Bug = {
  handleBatch: (deps, message, delivery) => {
    const waiting: Operations['waiting'] = async (operation, limit) => {
      // Two rows are asked for by whoever looks whether others wait.
      if (limit === 2) return [];
      // This request is slow: so the next leader is mostly sooner than the Target that is woken for the slot.
      await deps.machine.sleep(200);
      return deps.operations.waiting(operation, limit);
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, waiting } }, message, delivery);
  },
};

/** The Target of a batch that is over is signalled only where it was full by the cap as it is now. */
const raisedCapsSignalNobody: Bug = {
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

/** A Target under a cap that fits its lock counts what is in its lock alone. */
const loweredCapsForgetPages: Bug = {
  group: (deps, message, delivery) => {
    const openBatch: Locks['openBatch'] = (target, mine, { largestCap: _, ...open }) =>
      deps.locks.openBatch(target, mine, open);
    return group({ ...deps, locks: { ...deps.locks, openBatch } }, message, delivery);
  },
};

/** No function notes that an operation has slots on further pages. Under a cap that fits the row, only slots in the row count then. */
const forgettingPages = <Some extends Pick<Deps, 'operations'>>(deps: Some): Some => ({
  ...deps,
  operations: { ...deps.operations, noteCap: async () => {} },
});

const loweredTotalsForgetPages: Bug = {
  group: (deps, message, delivery) => group(forgettingPages(deps), message, delivery),
  handleBatch: (deps, message, delivery) => handleBatch(forgettingPages(deps), message, delivery),
};

export const MANY_BUGS: readonly KnownBug[] = [
  ['slots in one row', slotsAreInOneRow, /at most slotsPerPage slots/, where.manySlots],
  ['slots of a Target in one row', batchesAreInOneLock, /at most slotsPerPage slots/, where.manySlotsOfATarget],
  ['slots that keep the patrol from its turn', slotsAreSweptFirst, /every sweep reaches its patrol/, where.slowSweeps],
  [
    'paused Targets that keep their slots',
    pausedTargetsKeepTheirSlots,
    /a paused Target gives its slots/,
    where.pausedInLine,
  ],
  [
    'forgotten Targets that are taken for others',
    theForgottenAreTakenForOthers,
    /the patrol finds each Target/,
    where.forgottenAmongMany,
  ],
  ['jobs without an end', jobsHaveNoEnd, /no more inputs than its function can remember/, where.manyInputs],
  ['leaders that never hand over', leadersNeverHandOver, /longer than maxWait|is sealed at once/, where.busyTarget],
  ['raised caps that signal nobody', raisedCapsSignalNobody, /every registered task ends/, where.changedCap(1, 3)],
  ['lowered caps that forget the pages', loweredCapsForgetPages, /at most perTarget batches/, where.changedCap(4, 2)],
  [
    'lowered totals that forget the pages',
    loweredTotalsForgetPages,
    /at most total (batches|calls)/,
    where.loweredTotal,
  ],
  ['busy Targets that go first', busyTargetsGoFirst, /overtakes a waiting Target/, where.twoBusyTargets],
  [
    'slots that are freed before the Target is blocked',
    slotsAreFreedBeforeTheBlock,
    /freed only after|at most perTarget/,
    where.pausedAsBatchesOpen,
  ],
];
