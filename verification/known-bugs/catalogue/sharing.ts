/** Bugs of those who share room, and of those who end tasks that wait, by name. */
import type { KnownBug } from '../bug.ts';
import * as sharing from '../sharing.ts';
import * as where from '../where.ts';
import { backInLine } from '../where-many.ts';
import * as narrow from '../where-narrow.ts';

export const SHARING_BUGS: readonly KnownBug[] = [
  [
    'batches that are not counted when a cap comes',
    sharing.newCapsCountNothing,
    /at most perTarget batches/,
    where.capsComeLate,
  ],
  ['slots that are taken late', sharing.slotsAreTakenLate, /by who has a slot|at most total/],
  ['slots that are freed early', sharing.slotsAreFreedEarly, /given back once its batch is over/],
  ['slots that are freed in silence', sharing.nobodyIsWaked, /waits for room that is there/, where.nothingGoesWrong],
  ['room that is not passed on', sharing.roomIsNotPassedOn, /waits for room that is there/, narrow.expiredInLine],
  [
    'pauses after which some are woken each minute',
    sharing.someAreWokenEachMinute,
    /waits for room that is there/,
    where.manyAreBlocked,
  ],
  ['wakes that count as any message', sharing.wakesAreOverlooked, /every registered task ends/],
  ['rows that go before their wake', sharing.rowsGoBeforeTheirWake, /every registered task ends/, where.capped],
  ['rows that go though their Target is back', sharing.rowsGoByTheirKey, /every registered task ends/, backInLine],
  ['rows that go before the lead', sharing.rowsGoBeforeTheLead, /every registered task ends/, narrow.guardsComeAgain],
  [
    'tasks that are batched though they expired',
    sharing.expiriesAreOverlooked,
    /batched that has expired|when it does/,
  ],
  ['tasks that expire unseen', sharing.expiriesWakeNobody, /ends about when it does/, where.muchExpires],
  [
    'tasks that expire unseen as the lock changes hands',
    sharing.nobodyLooksForExpiries,
    /ends about when it does/,
    where.muchExpires,
  ],
  ['keys that are overlooked', sharing.keysAreOverlooked, /two tasks of one key/],
  ['batches that are formed of whatever waits', sharing.formersTakeEverything, /two tasks of one key/, where.oneKey],
  ['the oldest of a key that is done', sharing.theOldestOfAKeyIsDone, /by a newer one|its claim/],
  ['priorities that are overlooked', sharing.prioritiesAreOverlooked, /whose turn is later/, where.nothingGoesWrong],
  [
    'two runs of a task that end in one request',
    sharing.settlementsNameATaskTwice,
    /fails only for a fault.*duplicates/,
    where.rowsOutliveTheirTasks,
  ],
  ['tasks that end in silence', sharing.settlementsAreUntold, /wants to hear how a task ended/],
  [
    'redrives that tell nobody',
    sharing.registersTellNobody,
    /wants to hear how a task ended/,
    narrow.expiredAndRedriven,
  ],
];
