/**
 * Bugs that were made once, by the design's drafts, by this code or to try the checker, to be put back where the
 * simulation must find them.
 * They stand in for single steps or ports.
 */
import type { Target } from '../../../src/batching/ids.ts';
import { fanningOut } from '../../../src/simulation/fanned-out.ts';
import { NO_FAULTS } from '../../../src/simulation/faults.ts';
import { plain } from '../../../src/simulation/plain.ts';
import { withOperations } from '../../../src/simulation/with-operations.ts';
import type { Scenario } from '../../../src/simulation/world.ts';
import type { Bug } from './bug.ts';
import * as fanned from './fanning-out.ts';
import * as handling from './handling.ts';
import * as leading from './leading.ts';
import * as policy from './policy.ts';
import * as registering from './registering.ts';
import * as sharing from './sharing.ts';

/** A bug, the promise that it breaks, and where it shows, if not in any schedule. */
type KnownBug = readonly [name: string, bug: Bug, promise: RegExp, where?: (scenario: Scenario) => Partial<Scenario>];

// Promises about time are made for schedules where nothing goes wrong, or nothing that may be noticed.
const nothingGoesWrong = () => ({ faults: NO_FAULTS });
/** Nor does anything wait for others: no caps, no circuit, no rate, no pause. */
const nobodyWaits = (scenario: Scenario) => ({ ...plain(scenario), faults: NO_FAULTS });
const requestsAreRepeated = () => ({ faults: { ...NO_FAULTS, repeat: 0.05 } });
/** A flush soon after every message: they matter while a lock changes hands. */
const manyFlushes = ({ sends }: Scenario) => ({
  faults: NO_FAULTS,
  flushes: sends.flatMap(({ at, body }, n) => {
    const depot = /"depot":(\d+)/.exec(body)?.[1];
    return depot ? [{ at: at + ((n * 37) % 150), target: `ship/depot=${depot}` as Target }] : [];
  }),
});
/** Handlers that sleep while somebody redrives what failed. */
const manyRedrives = ({ faults }: Scenario) => ({
  faults: { ...faults, pause: 0.05 },
  redrives: Array.from({ length: 40 }, (_, n) => ({ at: n * 20_000, times: 1 })),
});
/** All for one Target, each about when the leader of the last one goes. */
const oneTarget = ({ sends }: Scenario) => ({
  faults: NO_FAULTS,
  sends: sends.map(({ body }, n) => ({ at: n * 230, body: body.replace(/"depot":\d/, '"depot":1') })),
});
/** One Target whose leader sleeps, is woken by the task that fills its batch, and has done just as two more come. */
const fullAgainAtOnce = (scenario: Scenario) => {
  const { seed, sends, config } = plain(scenario);
  const policy = { maxSize: 2, maxBytes: 1_000_000, maxWait: 40_000 };
  const at = (round: number, turn: number): number =>
    round * 3_000 + (turn < 2 ? turn * 600 : 700 + ((round * seed * 13) % 150));
  return {
    faults: NO_FAULTS,
    flushes: [],
    cancels: [],
    pauses: [],
    config: withOperations(config, ({ batch }) => ({ batch: { ...batch, ...policy } })),
    sends: sends.map(({ body }, n) => ({
      at: at(Math.floor(n / 4), n % 4),
      body: body.replace(/"depot":\d/, '"depot":1'),
    })),
  };
};

/** Every operation has a cap, and leaders come and go. */
const capped = ({ config, faults }: Scenario) => ({
  faults: { ...faults, crash: 0.05, duplicate: 0.3 },
  config: withOperations(config, () => ({ concurrency: { perTarget: null, total: 1 } })),
});
/** Half of what comes expires in a second, where leaders sleep for long. */
const muchExpires = ({ sends, config }: Scenario) => ({
  faults: NO_FAULTS,
  flushes: [],
  pauses: [],
  config: withOperations(config, ({ batch }) => ({
    shards: 1,
    concurrency: { perTarget: null, total: null },
    batch: { ...batch, maxSize: 10, maxWait: 40_000, window: null, quietPeriod: 0 },
  })),
  sends: sends.map(({ body }, n) => ({
    at: n * 97,
    body: body
      .replace(/"depot":\d/, `"depot":${1 + Math.floor(n / 2)}`)
      .replace(/^{/, n % 2 ? '{"expiresIn":"1s",' : '{'),
  })),
});

export const KNOWN_BUGS: readonly KnownBug[] = [
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
    oneTarget,
  ],
  [
    'a leader whose reads are behind',
    leading.rowsAreReadBehind,
    /every registered task ends|longer than maxWait|does not wait/,
    nothingGoesWrong,
  ],
  [
    'locks that are read at a glance',
    registering.locksAreReadAtAGlance,
    /every registered task ends|longer than maxWait|does not wait/,
    nothingGoesWrong,
  ],
  [
    'a message that is dropped because another one has its id',
    registering.onlyTheFirstOfAnIdGoesOn,
    /every registered task ends|a task or is refused/,
  ],
  ['refused messages that vanish', registering.refusedMessagesVanish, /becomes a task or is refused/],
  ['large payloads that are not stored', registering.largePayloadsAreNotStored, /asked for downstream/],
  [
    "claims that overlook a task's run",
    leading.claimsOverlookTheRun,
    /in its batch's Candidates|counts are what|its own/,
  ],
  [
    'new Targets that have no row',
    registering.newTargetsHaveNoRow,
    /every registered task ends/,
    ({ sends }) => ({ patrol: true, purges: sends.map(({ at }) => at + 60) }),
  ],
  ['redriven tasks that do not wait', registering.redrivenTasksDoNotWait, /every registered task ends/],
  ["redrives that overlook a task's run", registering.redrivesOverlookTheRun, /a redrive starts one run/],
  [
    'redriven members that are not counted',
    handling.redrivenMembersAreNotCounted,
    /counts are what the members show/,
    manyRedrives,
  ],
  [
    'payloads that expire for a run that is over',
    handling.expiryOverlooksTheRun,
    /nothing expires while/,
    manyRedrives,
  ],
  ['a guard that is early and stumbles', leading.earlyGuardsThrow, /fails only for a fault.*SyntaxError/],
  ['a nudge that stumbles', registering.nudgesThrow, /fails only for a fault.*nudge-failed/],
  ['a refusal that stumbles', registering.refusalsThrow, /fails only for a fault.*TypeError/],
  ['batches that are too large', policy.batchesAreTooLarge, /at most max/],
  ['batches that hold one task', policy.batchesHoldOneTask, /a full batch is full/],
  ['batches that are closed early', policy.batchesAreClosedEarly, /only when it is full of them/],
  ['batches that leave late', leading.batchesLeaveLate, /as soon as it is sealed/],
  ['retries that are late', handling.retriesAreLate, /as soon as its pause is over/, nobodyWaits],
  ['tasks that wait too long', policy.tasksWaitTooLong, /longer than maxWait/],
  ['full batches that nobody notices', registering.nobodyIsNudged, /a full batch does not wait/, nobodyWaits],
  [
    'full batches that came while the lock changed hands',
    leading.nobodyLooksAgain,
    /a full batch does not wait/,
    nobodyWaits,
  ],
  ['hints that leave a freed lock alone', leading.hintsLeaveFreedLocks, /a full batch does not wait/, fullAgainAtOnce],
  ['flushes that are overlooked', leading.flushesAreOverlooked, /at a flush is sealed at once/, manyFlushes],
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
    nothingGoesWrong,
  ],
  ['items that go twice', handling.itemsGoTwice, /twice in a call/],
  ['batches that succeed whatever their counts say', handling.everyBatchSucceeds, /status is what its counts say/],
  ['results that go to the neighbour', handling.resultsGoToTheNeighbour, /ends as was answered/],
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
  ['calls that overlook the rate', handling.ratesAreOverlooked, /calls keep the rate/, nothingGoesWrong],
  ['innocent tasks that fail with their batch', handling.innocentTasksFail, /ends as was answered/],
  ['attempts that overlap', handling.attemptsOverlap, /do not overlap|at most (?:total|perTarget)/],
  ['runs that end before their calls', handling.callsTakeNoTime, /do not overlap/],
  [
    'a start that is repeated and not recognised',
    handling.repeatedStartsAreOverlooked,
    /that was started was made|asked for downstream/,
    requestsAreRepeated,
  ],
  ['slots that are taken late', sharing.slotsAreTakenLate, /by who has a slot|at most total/],
  ['slots that are freed early', sharing.slotsAreFreedEarly, /given back once its batch is over/],
  ['slots that are freed in silence', sharing.nobodyIsWaked, /waits for room that is there/, nothingGoesWrong],
  ['room that is not passed on', sharing.roomIsNotPassedOn, /waits for room that is there/, nothingGoesWrong],
  ['wakes that count as any message', sharing.wakesAreOverlooked, /every registered task ends/],
  ['rows that go before their wake', sharing.rowsGoBeforeTheirWake, /every registered task ends/, capped],
  ['rows that go before the lead', sharing.rowsGoBeforeTheLead, /every registered task ends/, capped],
  [
    'tasks that are batched though they expired',
    sharing.expiriesAreOverlooked,
    /batched that has expired|when it does/,
  ],
  ['tasks that expire unseen', sharing.expiriesWakeNobody, /ends about when it does/, muchExpires],
  [
    'tasks that expire unseen as the lock changes hands',
    sharing.nobodyLooksForExpiries,
    /ends about when it does/,
    muchExpires,
  ],
  ['keys that are overlooked', sharing.keysAreOverlooked, /two tasks of one key/],
  ['batches that are formed of whatever waits', sharing.formersTakeEverything, /two tasks of one key/],
  ['the oldest of a key that is done', sharing.theOldestOfAKeyIsDone, /by a newer one|its claim/],
  ['priorities that are overlooked', sharing.prioritiesAreOverlooked, /whose turn is later/, nothingGoesWrong],
  ['tasks that end in silence', sharing.settlementsAreUntold, /wants to hear how a task ended/],
  ['redrives that tell nobody', sharing.registersTellNobody, /wants to hear how a task ended/],
  ['callbacks that go before their acks', fanned.callbacksGoFirst, /told after its item was acked/, fanningOut],
  [
    'acks that are forgotten after a crash',
    fanned.repeatedBatchesAckNothing,
    /item shows how its task|told after its item/,
    fanningOut,
  ],
];

/** A schedule with a bug put back. */
export const withBug = ([, steps, , where]: KnownBug, scenario: Scenario): Scenario => ({
  ...scenario,
  steps,
  patrol: false,
  purges: [],
  ...where?.(scenario),
});
