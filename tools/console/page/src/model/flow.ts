/** The numbers of the flow drawing: the messages in each queue, and what each function does a minute. Pure. */

import type { Queues } from '../../../../../src/api/queues/responses.ts';
import type { Target } from '../../../../../src/api/targets/responses.ts';
import type { MetricName } from '../../../../../src/domain/events/metrics.ts';
import type { MetricsView } from '../../../server/shapes.ts';
import { count, duration, rate, shortCount } from '../base/format.ts';
import type { Route } from '../base/router.ts';
import { meanOfMinute, perMinute } from './series.ts';
import type { Tone } from './words.ts';

type StationKind = 'outside' | 'queue' | 'function' | 'store' | 'letters';

/** A station in the drawing. Tasks pass from station to station. */
export interface Station {
  readonly id: string;
  readonly kind: StationKind;
  readonly name: string;
  /** The main number. Undefined until the number is known. */
  readonly value: string | undefined;
  /** The unit of the number. */
  readonly unit: string;
  /** The text of a second line, if there is more to show. */
  readonly detail?: string;
  readonly tone: Tone;
  readonly route: Route;
}

export interface FlowInput {
  readonly queues: Queues | undefined;
  readonly metrics: MetricsView | undefined;
  readonly targets: readonly Target[] | undefined;
  /** Whether there are more Targets than `targets` contains. */
  readonly hasMore: boolean;
}

const OVERVIEW: Route = { view: 'overview' };
const TARGETS: Route = { view: 'targets' };
const BATCHES: Route = { view: 'batches' };
const FAILURES: Route = { view: 'failures' };

/** The stations in the order in which a task passes them. Dead letters and the rejected queue come last. */
export const stations = (input: FlowInput): readonly Station[] => [
  { ...lambda(input, 'producers', 'Producers', 'TasksRegistered', 'tasks / min'), kind: 'outside' },
  queue(input, 'register', 'Register queue'),
  lambda(input, 'register-function', 'Register function', 'TasksRegistered', 'tasks / min'),
  waiting(input),
  queue(input, 'elect', 'Elect queue'),
  lambda(input, 'elect-function', 'Elect function', 'LeadersElected', 'leaders / min', TARGETS),
  queue(input, 'group', 'Group queue'),
  lambda(input, 'group-function', 'Group function', 'BatchesSealed', 'batches / min', TARGETS),
  queue(input, 'batch', 'Batch queue'),
  lambda(input, 'batch-handler', 'Batch handler', 'DownstreamCalls', 'calls / min'),
  downstream(input),
  results(input),
  letters(input),
  rejected(input),
];

const lambda = (
  { metrics }: FlowInput,
  id: string,
  name: string,
  metric: MetricName,
  unit: string,
  route: Route = OVERVIEW,
): Station => {
  const value = metrics && perMinute(metrics, metric);
  return {
    id,
    kind: 'function',
    name,
    value: value === undefined ? undefined : rate(value),
    unit,
    tone: value ? 'busy' : 'idle',
    route,
  };
};

const queue = ({ queues }: FlowInput, id: string, name: string): Station => {
  const found = queues?.queues.find(({ queue }) => queue === id);
  const isBatch = id === 'batch';
  const detail =
    found &&
    (isBatch
      ? `${count(found.inFlight)} called now · ${count(found.delayed)} due later`
      : `${count(found.inFlight)} in flight · ${count(found.delayed)} delayed`);
  return {
    id,
    kind: 'queue',
    name,
    value: found && count(found.waiting),
    unit: 'waiting',
    detail: detail ?? '',
    tone: found && found.deadLetters > 0 ? 'bad' : found && found.waiting + found.inFlight > 0 ? 'busy' : 'idle',
    route: id === 'register' ? OVERVIEW : isBatch ? BATCHES : TARGETS,
  };
};

const waiting = ({ targets, hasMore }: FlowInput): Station => {
  const sum = targets?.reduce((all, target) => all + target.waiting, 0);
  const isAtLeast = hasMore || (targets ?? []).some(({ waitingIsAtLeast }) => waitingIsAtLeast === true);
  const busy = targets?.filter((target) => target.waiting > 0).length ?? 0;
  return {
    id: 'waiting',
    kind: 'store',
    name: 'Waiting tasks',
    value: sum === undefined ? undefined : shortCount(sum, isAtLeast),
    unit: 'tasks',
    detail: targets ? inTargets(busy, hasMore) : '',
    tone: sum ? 'busy' : 'idle',
    route: { view: 'targets', sort: 'waiting' },
  };
};

/** @param hasMore whether other Targets, which were not read, may have waiting tasks too. */
const inTargets = (busy: number, hasMore: boolean): string => {
  if (hasMore && busy === 0) return 'in Targets not read here';
  return `in ${shortCount(busy, hasMore)} ${busy === 1 && !hasMore ? 'Target' : 'Targets'}`;
};

const downstream = ({ metrics }: FlowInput): Station => {
  const mean = metrics && meanOfMinute(metrics, 'DownstreamLatency');
  const errors = metrics ? perMinute(metrics, 'DownstreamErrors') : 0;
  return {
    id: 'downstream',
    kind: 'outside',
    name: 'Downstream',
    value: metrics && (mean === undefined ? '–' : duration(mean)),
    unit: 'mean',
    detail: errors > 0 ? `${rate(errors)} errors / min` : 'response time, no errors',
    tone: errors > 0 ? 'bad' : mean === undefined ? 'idle' : 'ok',
    route: FAILURES,
  };
};

const results = ({ metrics }: FlowInput): Station => {
  const good = metrics ? perMinute(metrics, 'TasksSucceeded') : 0;
  const failed = metrics ? perMinute(metrics, 'TasksFailed') : 0;
  const told = metrics ? perMinute(metrics, 'CallbacksDelivered') : 0;
  return {
    id: 'results',
    kind: 'store',
    name: 'Results',
    value: metrics && rate(good),
    unit: 'succeeded / min',
    detail: `${rate(failed)} failed · ${rate(told)} callbacks`,
    tone: failed > 0 ? 'bad' : good > 0 ? 'ok' : 'idle',
    route: FAILURES,
  };
};

const letters = ({ queues }: FlowInput): Station => {
  const dead = queues?.queues.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  const where = queues?.queues.filter(({ deadLetters }) => deadLetters > 0).map(({ queue }) => queue) ?? [];
  return {
    id: 'dead-letters',
    kind: 'letters',
    name: 'Dead letters',
    value: dead === undefined ? undefined : count(dead),
    unit: 'messages',
    detail: where.length > 0 ? `of ${where.join(', ')}` : 'the sweep sends them again',
    tone: dead ? 'bad' : 'idle',
    route: FAILURES,
  };
};

const rejected = ({ queues }: FlowInput): Station => ({
  id: 'rejected',
  kind: 'letters',
  name: 'Rejected queue',
  value: queues && count(queues.rejected),
  unit: 'messages',
  detail: 'with the reason of each',
  tone: queues && queues.rejected > 0 ? 'warn' : 'idle',
  route: { view: 'rejected' },
});
