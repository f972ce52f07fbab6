/** Bugs of those who call downstream and tell how tasks ended, by name. */
import type { OperationName } from '../../../src/domain/ids.ts';
import { fanningOut } from '../../batches/fanned-out.ts';
import { merging } from '../../batches/merged.ts';
import type { KnownBug } from '../bug.ts';
import * as fanned from '../fanning-out.ts';
import * as handling from '../handling.ts';
import * as policy from '../policy.ts';
import * as where from '../where.ts';
import * as narrow from '../where-narrow.ts';

export const HANDLING_BUGS: readonly KnownBug[] = [
  [
    'redriven members that are not counted',
    handling.redrivenMembersAreNotCounted,
    /counts are what the members show/,
    where.manyRedrives,
  ],
  [
    'payloads that expire for a run that is over',
    handling.expiryOverlooksTheRun,
    /nothing expires while/,
    where.manyRedrives,
  ],
  ['reports that count for all', handling.reportsCountForAll, /succeeds when its inputs were done/, merging],
  ['merged requests that go by their turns', handling.mergedRequestsGoByTurn, /newest text/, merging],
  ['requests that use up the time of a function', handling.requestsHaveNoEnd, /every function ends before its timeout/],
  ['retries that are late', handling.retriesAreLate, /as soon as its pause is over/, where.nobodyWaits],
  ['a downstream that is not called', handling.nobodyIsCalled, /asked for downstream/],
  [
    'members that are missed at a glance and not looked for',
    handling.glancesAreAllThatThereIs,
    /every registered task ends|counts are what|its own/,
  ],
  [
    'glances that are believed at every attempt',
    handling.glancesAreAlwaysBelieved,
    /again about an item that has its result|ends once each of its members has its result/,
    narrow.reportedTogether,
  ],
  ['items that go twice', handling.itemsGoTwice, /twice in a call/],
  ['batches that succeed whatever their counts say', handling.everyBatchSucceeds, /status is what its counts say/],
  ['results that go to the neighbour', handling.resultsGoToTheNeighbour, /ends as was answered|uses no try/],
  ['attempts without end', policy.attemptsHaveNoEnd, /at most maxAttempts attempts/],
  ['tasks that are given up early', policy.nobodyTriesAgain, /before the last attempt/],
  ['a Retry-After that is ignored', handling.retryAfterIsIgnored, /a pause that was asked for/],
  ['calls that come too often and use tries up', handling.throttlesAreFailures, /uses no try/],
  ['telling that is forgotten after a crash', handling.tellingIsForgottenAfterACrash, /who wants to know is told/],
  [
    'jobs whose first report ends their batch',
    handling.firstReportsEndBatches,
    /its own|counts are what|every registered task ends/,
  ],
  ['calls that overlook the rate', handling.ratesAreOverlooked, /calls keep the rate/, where.nothingGoesWrong],
  [
    'lines that outlive a pause',
    handling.linesHaveNoEnd,
    /waits for its rate no longer/,
    where.inLine({ pauses: [{ at: 60_000, lasts: 960_000, of: 'ship' as OperationName }] }),
  ],
  [
    'lines that outlive their rate',
    handling.linesHaveNoEnd,
    /waits for its rate no longer/,
    where.inLine({ changes: [{ at: 60_000, to: { rateLimit: 20 } }] }),
  ],
  [
    'lines that outlive a time without a rate',
    handling.linesHaveNoEnd,
    /waits for its rate no longer/,
    where.inLine(
      {
        changes: [
          { at: 60_000, to: { rateLimit: null } },
          { at: 1_000_000, to: { rateLimit: 0.05 } },
        ],
      },
      [1_010_000],
    ),
  ],
  ['innocent tasks that fail with their batch', handling.innocentTasksFail, /ends as was answered/],
  ['answers that are too large and count as none', handling.largeAnswersAreNone, /too large is repeated in halves/],
  ['halves that are forgotten', handling.sizesAreForgotten, /too large is repeated in halves/],
  ['results that were lost and count', handling.lostResultsCount, /could not be stored uses no try/],
  [
    'writes that are waited for until no time is left',
    handling.writesAreWaitedFor,
    /could not be stored uses no try/,
    where.tablesComeAndGo,
  ],
  [
    'held messages that are noted before they are sent',
    handling.notesGoFirst,
    /every registered task ends/,
    where.heldForLong,
  ],
  ['attempts that overlap', handling.attemptsOverlap, /do not overlap|at most (?:total|perTarget)|uses no try/],
  [
    'runs that end before their calls',
    handling.callsTakeNoTime,
    /do not overlap|uses no try|that was started was made/,
    narrow.longCalls,
  ],
  [
    'a start that is repeated and not recognised',
    handling.repeatedStartsAreOverlooked,
    /that was started was made|asked for downstream/,
    where.requestsAreRepeated,
  ],
  ['callbacks that go before their acks', fanned.callbacksGoFirst, /told after its item was acked/, fanningOut],
  [
    'acks that are forgotten after a crash',
    fanned.repeatedBatchesAckNothing,
    /item shows how its task|told after its item/,
    fanningOut,
  ],
];
