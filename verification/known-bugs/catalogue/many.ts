/** Bugs that show where there is much of something, by name. */
import type { KnownBug } from '../bug.ts';
import * as many from '../many.ts';
import * as where from '../where-many.ts';

export const MANY_BUGS: readonly KnownBug[] = [
  ['slots in one row', many.slotsAreInOneRow, /no more slots where there are more/, where.manySlots],
  [
    'slots of a Target in one row',
    many.batchesAreInOneLock,
    /no more slots where there are more/,
    where.manySlotsOfATarget,
  ],
  ['slots that keep the patrol from its turn', many.slotsAreSweptFirst, /has its turn/, where.slowSweeps],
  ['paused Targets that keep their slots', many.pausedTargetsKeepTheirSlots, /lends its slots/, where.pausedInLine],
  [
    'forgotten Targets that are taken for others',
    many.theForgottenAreTakenForOthers,
    /the patrol finds a Target/,
    where.forgottenAmongMany,
  ],
  ['jobs without an end', many.jobsHaveNoEnd, /no more inputs than are remembered/, where.manyInputs],
  ['leaders that never hand over', many.leadersNeverHandOver, /longer than maxWait|does not wait/, where.busyTarget],
  ['raised caps that signal nobody', many.raisedCapsSignalNobody, /every registered task ends/, where.changedCap(1, 3)],
  [
    'lowered caps that forget the pages',
    many.loweredCapsForgetPages,
    /at most perTarget batches/,
    where.changedCap(4, 2),
  ],
  [
    'lowered totals that forget the pages',
    many.loweredTotalsForgetPages,
    /at most total (batches|times)/,
    where.loweredTotal,
  ],
  ['busy Targets that go first', many.busyTargetsGoFirst, /passes one that waits/, where.twoBusyTargets],
  [
    'slots that are freed before the Target is blocked',
    many.slotsAreFreedBeforeTheBlock,
    /given back once|at most perTarget/,
    where.pausedAsBatchesOpen,
  ],
];
