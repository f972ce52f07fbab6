/**
 * What each event adds to which metrics, and whether it is a warning in the log. The Lambda functions print these
 * values, and the local runtime adds them up. Pure.
 */

import type { Finding } from '../batches/findings.ts';
import { operationOf } from '../ids.ts';
import type { FlowEvent } from './events.ts';
import { type DimensionName, METRICS, type MetricName, NO_OPERATION } from './metrics.ts';

/** Values to add to metrics with the same dimensions. */
export interface Measured {
  readonly of: Dimensions;
  readonly values: Values;
}

type Dimensions = Readonly<Partial<Record<DimensionName, string>>>;
type Values = Readonly<Partial<Record<MetricName, number>>>;
type Event<Name extends FlowEvent['event']> = Extract<FlowEvent, { readonly event: Name }>;

interface Effect<E> {
  /** The values that the event adds to metrics. A count may be 0. */
  adds?(event: E): Values;
  /** Dimensions that are not fields of the event. */
  of?(event: E): Dimensions;
  /** Whether a person should look at the event. */
  readonly warns?: true;
}

/** The values that an event adds. metrics.ts lists the dimensions of each metric. */
export const measured = (event: FlowEvent): readonly Measured[] => {
  const effect = effectOf(event);
  const dimensions: Dimensions = { ...(event as Dimensions), ...effect.of?.(event) };
  const together = new Map<string, Measured>();
  for (const [name, value] of Object.entries(effect.adds?.(event) ?? {}) as [MetricName, number][]) {
    const { unit, by } = METRICS[name];
    // Leave out counts of 0, because each log line costs money. A duration or a ratio of 0 is a value, so keep it.
    if (value === 0 && unit === 'Count') continue;
    const key = by.join();
    const of = Object.fromEntries(by.map((each) => [each, dimensions[each]]));
    together.set(key, { of, values: { ...together.get(key)?.values, [name]: value } });
  }
  return [...together.values()];
};

export const isWarning = (event: FlowEvent): boolean => effectOf(event).warns === true;

const effectOf = (event: FlowEvent): Effect<FlowEvent> => EFFECTS[event.event];

const REPAIRS: Readonly<Record<Finding['finding'], MetricName>> = {
  stranded: 'StrandedRepaired',
  'expired-lock': 'ExpiredLocksRepaired',
  'leaderless-batch': 'LeaderlessBatchesRepaired',
  forgotten: 'ForgottenRepaired',
  'stuck-slot': 'StuckSlotsRepaired',
  'overdue-batch': 'OverdueBatchesRepaired',
};

/** The effect of each event. A new event does not compile until its effect is decided here. */
const EFFECTS: { readonly [Name in FlowEvent['event']]: Effect<Event<Name>> } = {
  registered: { adds: ({ tasks }) => ({ TasksRegistered: tasks }) },
  rejected: {
    adds: ({ messages }) => ({ TasksRejected: messages }),
    of: ({ operation = NO_OPERATION }) => ({ operation }),
    warns: true,
  },
  'rule-broken': { adds: ({ messages }) => ({ RulesBroken: messages }), warns: true },
  'rules-decided': {},
  redriven: { adds: ({ tasks }) => ({ TasksRedriven: tasks }) },
  settled: {
    // A superseded task ends as succeeded, as its row shows.
    adds: ({ how, tasks }) =>
      how === 'superseded'
        ? { TasksSucceeded: tasks }
        : { TasksFailed: tasks, TasksExpired: how === 'expired' ? tasks : 0 },
  },
  led: {
    adds: ({ takenOver }) => ({ LeadersElected: 1, LockTakeovers: takenOver ? 1 : 0 }),
    of: ({ target }) => ({ operation: operationOf(target) }),
  },
  sealed: {
    // A batch whose candidates all ended before the claim is empty and is not called. It would distort the fill ratio.
    adds: ({ size, fill, waited }): Values =>
      size === 0 ? {} : { BatchesSealed: 1, FillRatio: 100 * fill, Wait: Math.max(0, waited) },
    of: ({ because }) => ({ reason: because }),
  },
  called: {
    adds: ({ isError, took, weight = 0 }) => ({
      DownstreamCalls: 1,
      DownstreamErrors: isError ? 1 : 0,
      DownstreamLatency: Math.max(0, took),
      WeightUsed: weight,
    }),
  },
  // Tasks of a pending job are not retried.
  postponed: { adds: ({ open, pending = 0 }) => ({ BatchesRetried: open > pending ? 1 : 0 }) },
  'not-stored': { adds: () => ({ BatchesRetried: 1 }), warns: true },
  finished: {
    adds: ({ status, counts }) => ({
      TasksSucceeded: counts.succeeded,
      TasksFailed: counts.failed,
      BatchesSucceeded: status === 'succeeded' ? 1 : 0,
      BatchesFailed: status === 'succeeded' ? 0 : 1,
    }),
  },
  looked: { adds: ({ oldestWaiting }) => ({ OldestWaiting: oldestWaiting }) },
  merged: {
    adds: ({ requests, inputs, skipped, called }) => ({
      RequestsMerged: requests,
      InputsMerged: inputs,
      InputsSkipped: skipped,
      JobsStarted: called ? 1 : 0,
    }),
  },
  revived: { adds: () => ({ DeadLettersRevived: 1 }), warns: true },
  unreadable: { adds: () => ({ DeadLettersUnreadable: 1 }), warns: true },
  repaired: { adds: ({ finding }) => ({ [REPAIRS[finding]]: 1, Repairs: 1 }), warns: true },
  'circuit-opened': { adds: () => ({ CircuitOpened: 1 }), warns: true },
  'circuit-closed': { adds: () => ({ CircuitClosed: 1 }) },
  delivered: { adds: ({ events }) => ({ CallbacksDelivered: events }) },
  'not-delivered': { adds: () => ({ CallbacksFailed: 1 }), warns: true },
  'put-off': { adds: ({ waited }) => ({ OldestUndelivered: waited }) },
  'destination-down': { adds: () => ({ DestinationsDown: 1 }), warns: true },
  untold: { adds: ({ tasks }) => ({ EventsUntold: tasks }), warns: true },
  'fan-out-untold': { adds: () => ({ EventsUntold: 1 }) },
  'fan-out-ended': {
    adds: ({ status, because }): Values => ({
      FanOutsCompleted: status === 'complete' ? 1 : 0,
      FanOutsFailed: because === 'too-many-failed' ? 1 : 0,
      FanOutsExpired: because === 'idle' ? 1 : 0,
    }),
  },
  'fan-out-deleted': {},
  'fan-outs-counted': { adds: ({ open, oldest }) => ({ FanOutsOpen: open, OldestFanOut: oldest }) },
  'fan-out-repaired': { adds: () => ({ FanOutsRepaired: 1, Repairs: 1 }) },
  'lists-counted': {
    adds: ({ open, available, leased, oldest, deliveries }) => ({
      ListsOpen: open,
      JobsAvailable: available,
      JobsLeased: leased,
      OldestList: oldest,
      MostDeliveries: deliveries,
    }),
  },
  'jobs-undeliverable': { adds: ({ jobs }) => ({ JobsUndeliverable: jobs }), warns: true },
  'claim-broken': { adds: () => ({ ClaimsBroken: 1 }), warns: true },
  'claim-refused': { adds: () => ({ ClaimsRefused: 1 }), warns: true },
  'unknown-items': { adds: ({ items }) => ({ ItemsUnknown: items }) },
  'sweep-cut': { adds: () => ({ SweepsCut: 1 }), warns: true },
  'unknown-batch': { warns: true },
  'foreign-results': { warns: true },
  'answers-without-results': { warns: true },
  'foreign-message': { warns: true },
  'given-up': { warns: true },
  'not-given-up': { warns: true },
  'not-put-off': { warns: true },
  'share-unknown': { warns: true },
  'result-omitted': { warns: true },
  blocked: {},
  granted: { adds: ({ waited }) => ({ LimitWait: Math.max(0, waited) }) },
  'limit-not-written': {},
  'slot-freed': {},
  held: {},
  'nudge-failed': {},
  'hold-not-noted': {},
  'not-revived': {},
  'destination-up': {},
  'not-removed': {},
  discarded: {},
  'not-released': {},
  'early-guard': {},
};
