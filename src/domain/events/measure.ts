/** What each event adds to which metrics. Pure: λs print it, the local runtime sums it up. */

import type { Finding } from '../batches/findings.ts';
import { operationOf } from '../ids.ts';
import type { FlowEvent } from './events.ts';
import { type DimensionName, METRICS, type MetricName, NO_OPERATION } from './metrics.ts';

/** What to add to metrics that have the same dimensions. */
export interface Measured {
  readonly of: Readonly<Partial<Record<DimensionName, string>>>;
  readonly values: Readonly<Partial<Record<MetricName, number>>>;
}

const REPAIRS: Readonly<Record<Finding['finding'], MetricName>> = {
  stranded: 'StrandedRepaired',
  'expired-lock': 'ExpiredLocksRepaired',
  'leaderless-batch': 'LeaderlessBatchesRepaired',
  forgotten: 'ForgottenRepaired',
  'stuck-slot': 'StuckSlotsRepaired',
  'overdue-batch': 'OverdueBatchesRepaired',
};

/** In no dimension: one alarm for all of them. */
const REPAIR: Measured = { of: {}, values: { Repairs: 1 } };

/** What there was none of is left out: each line costs. How long something took, or how full it was, may be 0. */
export const measured = (event: FlowEvent): readonly Measured[] =>
  measuredIn(event).flatMap(({ of, values }) => {
    const some = Object.entries(values).filter(([name, value]) => value !== 0 || !isCount(name as MetricName));
    return some.length > 0 ? [{ of, values: Object.fromEntries(some) }] : [];
  });

const isCount = (name: MetricName): boolean => METRICS[name].unit === 'Count';

/** Of each event, so that a new one does not compile until it is decided: a function that gives nothing may forget one. */
const measuredIn = (event: FlowEvent): readonly Measured[] => {
  switch (event.event) {
    case 'registered':
      return [{ of: { operation: event.operation }, values: { TasksRegistered: event.tasks } }];
    case 'rejected':
      return [{ of: { operation: event.operation ?? NO_OPERATION }, values: { TasksRejected: event.messages } }];
    case 'redriven':
      return [{ of: { operation: event.operation }, values: { TasksRedriven: event.tasks } }];
    case 'settled':
      return [{ of: { operation: event.operation }, values: settled(event) }];
    case 'led':
      return [
        {
          of: { operation: operationOf(event.target) },
          values: { LeadersElected: 1, LockTakeovers: event.takenOver ? 1 : 0 },
        },
      ];
    case 'sealed':
      return sealed(event);
    case 'called':
      return [
        {
          of: { operation: event.operation },
          values: {
            DownstreamCalls: 1,
            DownstreamErrors: event.isError ? 1 : 0,
            DownstreamLatency: Math.max(0, event.took),
          },
        },
      ];
    case 'postponed':
      // Those that have a job are under way.
      return [
        {
          of: { operation: event.operation },
          values: { BatchesRetried: event.open > (event.pending ?? 0) ? 1 : 0 },
        },
      ];
    case 'not-stored':
      return [{ of: { operation: event.operation }, values: { BatchesRetried: 1 } }];
    case 'finished':
      return [{ of: { operation: event.operation }, values: finished(event) }];
    case 'looked':
      return [{ of: { operation: event.operation }, values: { OldestWaiting: event.oldestWaiting } }];
    case 'merged':
      return [
        {
          of: { operation: event.operation },
          values: {
            RequestsMerged: event.requests,
            InputsMerged: event.inputs,
            InputsSkipped: event.skipped,
            JobsStarted: event.called ? 1 : 0,
          },
        },
      ];
    case 'revived':
      return [{ of: { queue: event.queue }, values: { DeadLettersRevived: 1 } }];
    case 'unreadable':
      return [{ of: { queue: event.queue }, values: { DeadLettersUnreadable: 1 } }];
    case 'repaired':
      return [{ of: { operation: event.operation }, values: { [REPAIRS[event.finding]]: 1 } }, REPAIR];
    case 'circuit-opened':
      return [{ of: { operation: event.operation }, values: { CircuitOpened: 1 } }];
    case 'circuit-closed':
      return [{ of: { operation: event.operation }, values: { CircuitClosed: 1 } }];
    case 'delivered':
      return [{ of: { destination: event.destination }, values: { CallbacksDelivered: event.events } }];
    case 'not-delivered':
      return [{ of: { destination: event.destination }, values: { CallbacksFailed: 1 } }];
    case 'put-off':
      return [{ of: { destination: event.destination }, values: { OldestUndelivered: event.waited } }];
    case 'destination-down':
      return [{ of: { destination: event.destination }, values: { DestinationsDown: 1 } }];
    case 'untold':
      return [{ of: {}, values: { EventsUntold: event.tasks } }];
    case 'fan-out-untold':
      return [{ of: {}, values: { EventsUntold: 1 } }];
    case 'fan-out-ended':
      return [{ of: {}, values: event.status === 'complete' ? { FanOutsCompleted: 1 } : { FanOutsExpired: 1 } }];
    case 'fan-out-repaired':
      return [{ of: {}, values: { FanOutsRepaired: 1, Repairs: 1 } }];
    case 'unknown-items':
      return [{ of: {}, values: { ItemsUnknown: event.items } }];
    case 'sweep-cut':
      return [{ of: {}, values: { SweepsCut: 1 } }];
    case 'blocked':
    case 'slot-freed':
    case 'held':
    case 'unknown-batch':
    case 'nudge-failed':
    case 'hold-not-noted':
    case 'not-revived':
    case 'given-up':
    case 'not-given-up':
    case 'not-put-off':
    case 'share-unknown':
    case 'result-omitted':
    case 'destination-up':
    case 'not-removed':
    case 'early-guard':
    case 'foreign-message':
    case 'foreign-results':
      return [];
  }
};

type Event<Name extends FlowEvent['event']> = Extract<FlowEvent, { readonly event: Name }>;

/** One whose candidates all ended before it had them goes nowhere: it is not a batch that was badly filled. */
const sealed = ({ operation, because, size, fill, waited }: Event<'sealed'>): readonly Measured[] =>
  size === 0
    ? []
    : [
        { of: { operation, reason: because }, values: { BatchesSealed: 1 } },
        { of: { operation }, values: { FillRatio: 100 * fill, Wait: Math.max(0, waited) } },
      ];

/** Whoever waited and was replaced has succeeded, as its row says. */
const settled = ({ how, tasks }: Event<'settled'>): Measured['values'] =>
  how === 'superseded'
    ? { TasksSucceeded: tasks }
    : { TasksFailed: tasks, TasksExpired: how === 'expired' ? tasks : 0 };

const finished = ({ status, counts }: Event<'finished'>): Measured['values'] => ({
  TasksSucceeded: counts.succeeded,
  TasksFailed: counts.failed,
  BatchesSucceeded: status === 'succeeded' ? 1 : 0,
  BatchesFailed: status === 'succeeded' ? 0 : 1,
});
