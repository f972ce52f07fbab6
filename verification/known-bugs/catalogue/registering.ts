/** Bugs of those who register and redrive, by name. */
import type { KnownBug } from '../bug.ts';
import * as registering from '../registering.ts';
import * as where from '../where.ts';
import * as narrow from '../where-narrow.ts';

export const REGISTERING_BUGS: readonly KnownBug[] = [
  [
    'locks that are read at a glance',
    registering.locksAreReadAtAGlance,
    /every registered task ends|longer than maxWait|does not wait/,
    narrow.asTheLeaderGoes,
  ],
  [
    'a message that is dropped because another one has its id',
    registering.onlyTheFirstOfAnIdGoesOn,
    /every registered task ends|a task or is refused/,
  ],
  [
    'ids that are used again with the runs of the task before',
    registering.runsBeginAtOneAgain,
    /only tasks with one Target share a batch/,
    where.idsAreUsedAgain,
  ],
  ['versions that are overlooked', registering.versionsAreOverlooked, /keeps the age with which it was sent/],
  [
    'messages that are sent again and count as new',
    registering.sentAgainIsSentNow,
    /keeps the age with which it was sent/,
    where.manyDeadLetters,
  ],
  ['redriven tasks that count as new', registering.redrivenTasksAreNew, /superseded by a newer one/],
  ['refused messages that vanish', registering.refusedMessagesVanish, /becomes a task or is refused/],
  [
    'weights that no table holds',
    registering.tinyWeightsAreTaken,
    /fails only for a fault.*ValidationException/,
    where.tinyWeights,
  ],
  ['large payloads that are not stored', registering.largePayloadsAreNotStored, /asked for downstream/],
  [
    'new Targets that have no row',
    registering.newTargetsHaveNoRow,
    /every registered task ends/,
    narrow.purgedWhileElected,
  ],
  ['redriven tasks that do not wait', registering.redrivenTasksDoNotWait, /every registered task ends/],
  ["redrives that overlook a task's run", registering.redrivesOverlookTheRun, /a redrive starts one run/],
  ['a nudge that stumbles', registering.nudgesThrow, /fails only for a fault.*nudge-failed/],
  ['a refusal that stumbles', registering.refusalsThrow, /fails only for a fault.*TypeError/],
  ['full batches that nobody notices', registering.nobodyIsNudged, /a full batch does not wait/, where.nobodyWaits],
];
