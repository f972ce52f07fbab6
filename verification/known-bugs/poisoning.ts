/** Bugs in telling tasks at fault from a downstream that is down, and in testing a downstream after a pause. */

import { isFinished } from '../../src/domain/batches/batch.ts';
import type { OperationName } from '../../src/domain/ids.ts';
import { type OperationState, pauseNow } from '../../src/domain/operations/slots.ts';
import type { Operations } from '../../src/ports/operations.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { poisonAmongOthers, poisonedBatch, poisonedTargets } from '../batches/poison.ts';
import type { Scenario } from '../batches/scenario.ts';
import { type Bug, withOperation } from './bug.ts';

/**
 * The name of a bug, its replacement, the promise that it breaks, the schedules that show it, and the seed of a schedule
 * from which the search begins. @default 1
 */
type PoisonBug = readonly [
  name: string,
  bug: Bug,
  promise: RegExp,
  scenario: (scenario: Scenario) => Scenario,
  first?: number,
];

const withOperationRows = (change: (operations: Operations) => Partial<Operations>): Bug => ({
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, operations: { ...deps.operations, ...change(deps.operations) } }, message, delivery),
});

/** A batch that fails again and again is always called whole. */
const neverInParts: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch(
      withOperation(deps, ({ retry }) => ({ retry: { ...retry, isolate: false } })),
      message,
      delivery,
    ),
};

/** Each attempt begins again with the halves of all open tasks. */
const partsForgotten: Bug = {
  handleBatch: (deps, message, delivery) => {
    const postpone: typeof deps.batches.postpone = (id, attempt, { parts: _, ...rest }) =>
      deps.batches.postpone(id, attempt, rest);
    return handleBatch({ ...deps, batches: { ...deps.batches, postpone } }, message, delivery);
  },
};

/** All batches test the downstream as soon as the pause of the circuit is over. */
const failedBatchesTestFirst: Bug = {
  handleBatch: (deps, message, delivery) => {
    const read = async (operation: OperationName): Promise<OperationState> => {
      const { resumedAt: _, paused, ...state } = await deps.operations.read(operation);
      return pauseNow(paused ? { paused } : {}, deps.machine.now()) && paused ? { ...state, paused } : state;
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, read } }, message, delivery);
  },
};

/** A batch that failed keeps its slot during the pause of the circuit. */
const failedBatchKeepsSlot: Bug = {
  handleBatch: (deps, message, delivery) => {
    const freeSlot: typeof deps.operations.freeSlot = async (operation, slot, page) => {
      const batch = await deps.batches.get(message.batchId);
      return batch && isFinished(batch.status) ? deps.operations.freeSlot(operation, slot, page) : undefined;
    };
    return handleBatch({ ...deps, operations: { ...deps.operations, freeSlot } }, message, delivery);
  },
};

/** The Target that has waited longest tests the downstream. */
const oldestTestsFirst: Bug = {
  electLeader: (deps, message) => {
    const waiting: typeof deps.operations.waiting = async (operation, limit) =>
      (await deps.operations.waiting(operation, limit)).slice(0, 1);
    return electLeader({ ...deps, operations: { ...deps.operations, waiting } }, message);
  },
};

/** No success of another batch counts as evidence. */
const successesProveNothing = withOperationRows((operations) => ({
  read: async (operation) => ({ ...(await operations.read(operation)), recoveries: 0 }),
  addFailure: async (operation, by, reason) => ({
    ...(await operations.addFailure(operation, by, reason)),
    recoveries: 0,
  }),
}));

export const POISON_BUGS: readonly PoisonBug[] = [
  ['failed batch never called in parts', neverInParts, /through the fault of another|comes to rest/, poisonedBatch],
  [
    'parts of a failed batch forgotten',
    partsForgotten,
    /found with few calls|through the fault of another/,
    poisonedBatch,
  ],
  ['batches that failed test the downstream first', failedBatchesTestFirst, /within two cycles/, poisonedTargets, 24],
  ['failed batch keeps its slot', failedBatchKeepsSlot, /within two cycles/, poisonedTargets],
  ['oldest Target tests the downstream', oldestTestsFirst, /within two cycles/, poisonedTargets],
  [
    'successes of others prove nothing',
    successesProveNothing,
    /fails after its attempts|at most 1,000 attempts/,
    poisonAmongOthers,
  ],
];
