/** Scenarios of deferred lists for bugs that few of the usual ones show. */
import type { Token } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { ClientRequestOf, ListPlan, ListScenario, Workers } from '../lists/scenario.ts';

export type ScenarioChange = (scenario: ListScenario) => Partial<ListScenario>;

const withWorkers = (
  scenario: ListScenario,
  change: Partial<Workers>,
  plan: Partial<ListPlan> = {},
): readonly ListPlan[] => scenario.lists.map((list) => ({ ...list, ...plan, workers: { ...list.workers, ...change } }));

/** Transactions conflict, without other faults. */
export const conflictingTransactions: ScenarioChange = () => ({
  faults: { ...NO_FAULTS, conflict: 0.2 },
  faultsEnd: 40 * MINUTE,
});

/** Workers store a result for each job, and the patrol often runs out of time. */
export const clearingHasNoTime: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  hurry: 0.4,
  nodeSize: { width: 2, acksAtOnce: 2 },
  lists: withWorkers(scenario, { count: 4, haveResults: true, dying: 0, releasing: 0 }, { hasOperation: false }),
});

/** Jobs are claimed and given back again and again during a cancellation, without faults. */
export const claimsDuringCancellation: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  span: MINUTE,
  lists: withWorkers(scenario, { count: 4, span: 0, dying: 0, releasing: 1, renewing: 0 }).map((list) => ({
    ...list,
    people: [
      [
        { do: 'open', after: 0, tries: 9, again: 0 },
        { do: 'append', after: 0, tries: 9, again: 0, count: 4, token: 'a' as Token },
        { do: 'cancel', after: 30_000, tries: 9, again: 0 },
      ],
    ],
  })),
});
/** Workers are so slow that another worker may have taken over their lease when they renew it. */
export const renewalsDuringTakeovers: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.1 },
  faultsEnd: 20 * MINUTE,
  span: 20 * MINUTE,
  lists: withWorkers(scenario, { count: 4, span: 2 * MINUTE, lease: 1_000, renewing: 1, dying: 0, atOnce: 1 }),
});
/** A client that is paused adds jobs during the deletion of the list. */
export const appendsDuringDeletion: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.3 },
  faultsEnd: 10 * MINUTE,
  lists: scenario.lists.map((list) => ({
    ...list,
    people: [
      [{ do: 'open', after: 0, tries: 9, again: 0 }],
      ...['a', 'b', 'c'].map((token): ClientRequestOf[] => [
        { do: 'append', after: 3_000, tries: 1, again: 0, count: 4, token: token as Token },
      ]),
      [{ do: 'delete', after: 5_000, tries: 9, again: 0 }],
    ],
  })),
});
/** Without faults, the patrol has nothing to repair. */
export const withoutFaults: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  lists: withWorkers(scenario, { dying: 0 }, { ending: 'finish' }),
});
/** Triggers take many large jobs, and messages arrive twice. */
export const messagesDeliveredTwice: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, duplicate: 0.3 },
  faultsEnd: 40 * MINUTE,
  pageBytes: 60,
  lists: scenario.lists.map((list) => ({
    ...list,
    hasOperation: true,
    people: [
      [
        { do: 'open', after: 0, tries: 99, again: 0 },
        { do: 'append', after: 0, tries: 99, again: 0, count: 24, token: 'a' as Token },
        { do: 'trigger', after: 0, tries: 99, again: 0, wanted: { percent: 100 }, token: 't' as Token },
      ],
    ],
  })),
});
/** A worker that gets no answer repeats its completion with another outcome. */
export const lostReplies: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, lostReply: 0.2 },
  faultsEnd: 40 * MINUTE,
  lists: withWorkers(
    scenario,
    { count: 4, failing: 0.5, haveResults: true, lease: 1_000, span: 30_000, dying: 0.4 },
    { hasOperation: false },
  ),
});
const TWENTY_JOBS: readonly ClientRequestOf[] = [
  { do: 'open', after: 0, tries: 99, again: 0 },
  { do: 'append', after: 0, tries: 99, again: 0, count: 20, token: 'a' as Token },
  { do: 'seal', after: 0, tries: 99, again: 0 },
];
/** Some jobs end no worker normally. Workers die, or give jobs back and name those that they had begun. */
export const poison: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  span: 30 * MINUTE,
  config: { ...scenario.config, lists: { ...scenario.config.lists, maxDeliveries: 3 } },
  lists: withWorkers(
    scenario,
    { count: 3, poison: 0.3, reportAttempts: true, dying: 0, span: 0, lease: 1_000, atOnce: 12, twice: 0 },
    { hasOperation: false, people: [TWENTY_JOBS], ending: 'finish' },
  ),
});
/** A person ends claims while slow workers have them. */
export const brokenClaims: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  span: 10 * MINUTE,
  lists: withWorkers(
    scenario,
    { count: 3, span: 2 * MINUTE, lease: 20 * MINUTE, dying: 0, releasing: 0 },
    {
      hasOperation: false,
      people: [TWENTY_JOBS, Array.from({ length: 8 }, () => ({ do: 'break', after: 20_000, tries: 9, again: 0 }))],
    },
  ),
});
/** Most claims have rows of their own, and some workers die or renew late. */
export const claimsApart: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.05 },
  faultsEnd: 20 * MINUTE,
  span: 20 * MINUTE,
  claimsMax: 1,
  lists: withWorkers(
    scenario,
    { count: 4, span: MINUTE, lease: 1_000, renewing: 1, dying: 0.2, releasing: 0, atOnce: 2, poison: 0 },
    { hasOperation: false, people: [TWENTY_JOBS] },
  ),
});
/** Several workers claim at the same moments, and most claims have rows of their own. */
export const claimsAtOnce: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.1 },
  faultsEnd: 20 * MINUTE,
  claimsMax: 1,
  lists: withWorkers(
    scenario,
    { count: 8, span: 2_000, lease: 2 * MINUTE, renewing: 0, dying: 0, releasing: 0, atOnce: 1, poison: 0 },
    { hasOperation: false, people: [TWENTY_JOBS] },
  ),
});
/** Workers give back all jobs that they have not done, and there are soon many free ranges. */
export const releasedInParts: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  span: 10 * MINUTE,
  claimsMax: 2,
  lists: withWorkers(
    scenario,
    { count: 4, span: 0, dying: 0, releasing: 0.7, inParts: 1, atOnce: 5, poison: 0, reportAttempts: true },
    { hasOperation: false, people: [TWENTY_JOBS] },
  ),
});
/** Workers send each claim twice at the same time, while others give jobs back: one request may get fresh jobs. */
export const claimsSentTwice: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  span: 10 * MINUTE,
  claimsMax: 2,
  lists: withWorkers(
    scenario,
    { count: 4, span: 0, dying: 0, releasing: 0.7, inParts: 1, atOnce: 2, poison: 0, twice: 1, reportAttempts: true },
    { hasOperation: false, people: [TWENTY_JOBS] },
  ),
});
