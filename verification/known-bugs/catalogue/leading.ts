/** Bugs of those who elect and lead, by name. */
import type { KnownBug } from '../bug.ts';
import * as leading from '../leading.ts';
import * as policy from '../policy.ts';
import * as where from '../where.ts';
import * as narrow from '../where-narrow.ts';

export const LEADING_BUGS: readonly KnownBug[] = [
  [
    'a guard that is sent after the acquire',
    leading.guardAfterAcquire,
    /a held fence has a guard|every registered task ends/,
  ],
  [
    'an open batch that is cleared before it is stored',
    leading.openBatchClearedWithoutBatch,
    /OpenBatch. is cleared only/,
  ],
  [
    'a throttled claim that is counted as refused',
    leading.throttledClaimCountsAsRefused,
    /its claim|every registered task ends/,
  ],
  [
    'a last claim that stands for all',
    leading.lastClaimStandsForAll,
    /its claim|its own|every registered task ends|asked for downstream/,
  ],
  [
    'a release without a second look',
    leading.noLookAfterRelease,
    /every registered task ends|longer than maxWait/,
    narrow.asTheLeaderGoes,
  ],
  [
    'a leader whose reads are behind',
    leading.rowsAreReadBehind,
    /every registered task ends|longer than maxWait|does not wait/,
    where.nothingGoesWrong,
  ],
  [
    "claims that overlook a task's run",
    leading.claimsOverlookTheRun,
    /in its batch's Candidates|counts are what|its own/,
    where.manyRedrives,
  ],
  ['a guard that is early and stumbles', leading.earlyGuardsThrow, /fails only for a fault.*SyntaxError/],
  ['early guards that sleep for half a lease', leading.earlyGuardsSleep, /longer than maxWait/, where.sustained],
  ['early guards that multiply', leading.earlyGuardsMultiply, /a guard is in flight once/, where.sustained],
  ['batches that are too large', policy.batchesAreTooLarge, /at most max/],
  ['batches that hold one task', policy.batchesHoldOneTask, /a full batch is full/],
  ['batches that are closed early', policy.batchesAreClosedEarly, /only when it is full of them/],
  ['batches that leave late', leading.batchesLeaveLate, /as soon as it is sealed/],
  ['tasks that wait too long', policy.tasksWaitTooLong, /longer than maxWait/, narrow.fewTasks],
  [
    'full batches that came while the lock changed hands',
    leading.nobodyLooksAgain,
    /a full batch does not wait/,
    where.fullWhileElected,
  ],
  [
    'hints that leave a freed lock alone',
    leading.hintsLeaveFreedLocks,
    /a full batch does not wait/,
    narrow.fullAgainAtOnce,
  ],
  ['flushes that are overlooked', leading.flushesAreOverlooked, /at a flush is sealed at once/, where.manyFlushes],
];
