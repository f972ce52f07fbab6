/** Repairs as metrics: lines in the embedded metric format, which CloudWatch reads out of the log. */
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { FlowEvent } from '../src/batching/events.ts';
import type { Finding } from '../src/batching/findings.ts';
import { METRICS, type MetricName, NAMESPACE } from '../src/metrics.ts';
import type { Report } from '../src/ports.ts';

/** What to add to a metric. `of` is the value of its dimension. */
type Measurement = readonly [name: MetricName, of: string, by: number];
type Count = (...measurement: Measurement) => void;

/** @param stack the name of the stack that the function belongs to. */
export const embeddedMetrics = (stack: string): Count => {
  const metrics = new Metrics({ namespace: NAMESPACE, serviceName: stack });
  return (name, of, by) => metrics.singleMetric().addDimension(METRICS[name], of).addMetric(name, MetricUnit.Count, by);
};

const REPAIRS: Readonly<Record<Finding['finding'], MetricName>> = {
  stranded: 'StrandedRepaired',
  'expired-lock': 'ExpiredLocksRepaired',
  'leaderless-batch': 'LeaderlessBatchesRepaired',
  forgotten: 'ForgottenRepaired',
  'stuck-slot': 'StuckSlotsRepaired',
  'overdue-batch': 'OverdueBatchesRepaired',
};

export const measureTo =
  (count: Count): Report =>
  (event) => {
    const single = event.event === 'merged' ? undefined : measurementOf(event);
    for (const each of event.event === 'merged' ? mergedIn(event) : single ? [single] : []) count(...each);
  };

type MergedEvent = FlowEvent & { readonly event: 'merged' };

/** What there was none of is not written: each line costs. */
const mergedIn = ({ operation, requests, inputs, skipped, called }: MergedEvent): readonly Measurement[] => {
  const all: readonly Measurement[] = [
    ['RequestsMerged', operation, requests],
    ['InputsMerged', operation, inputs],
    ['InputsSkipped', operation, skipped],
    ['JobsStarted', operation, called ? 1 : 0],
  ];
  return all.filter(([, , by]) => by > 0);
};

/** Of each event, so that a new one does not compile until it is decided: a function that gives nothing may forget one. */
const measurementOf = (event: Exclude<FlowEvent, MergedEvent>): Measurement | undefined => {
  switch (event.event) {
    case 'redriven':
      return ['TasksRedriven', event.operation, event.tasks];
    case 'revived':
      return ['DeadLettersRevived', event.queue, 1];
    case 'unreadable':
      return ['DeadLettersUnreadable', event.queue, 1];
    case 'repaired':
      return [REPAIRS[event.finding], event.operation, 1];
    case 'circuit-opened':
      return ['CircuitOpened', event.operation, 1];
    case 'circuit-closed':
      return ['CircuitClosed', event.operation, 1];
    case 'delivered':
      return ['CallbacksDelivered', event.destination, event.events];
    case 'not-delivered':
      return ['CallbacksFailed', event.destination, 1];
    case 'settled':
    case 'blocked':
    case 'slot-freed':
    case 'registered':
    case 'rejected':
    case 'led':
    case 'sealed':
    case 'called':
    case 'postponed':
    case 'held':
    case 'finished':
    case 'unknown-batch':
    case 'nudge-failed':
    case 'not-revived':
    case 'not-removed':
    case 'foreign-message':
    case 'foreign-results':
    case 'untold':
    case 'fan-out-ended':
    case 'fan-out-repaired':
    case 'fan-out-untold':
    case 'unknown-items':
      return undefined;
  }
};
