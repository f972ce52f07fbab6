/** Compares what AWS did with the promises and with the simulator's prediction. Pure. */
import { billOf } from '../../simulate/cost.ts';
import { count, dollars, percent, span } from '../../simulate/figures.ts';
import type { Outcome, Spread } from '../../simulate/outcome.ts';
import { AWS } from '../../simulate/platform.ts';
import { MAX_SIZE, MAX_WAIT } from '../loads/plan.ts';
import { costOfFigures, messagesIn } from '../measures/cost.ts';
import type { Figures } from '../measures/figures.ts';
import type { Observed } from '../measures/observe.ts';

const NOT_REPORTED = 'not reported';

/** A row of the page. */
export interface Row {
  readonly what: string;
  readonly aws: string;
  /** Empty if the simulator predicts nothing about it. */
  readonly simulated: string;
}

/** A promise, what shows whether it held, and whether it did. */
export interface Promised extends Row {
  readonly held: boolean;
}

export interface Compared {
  readonly title: string;
  /** Why the load ended early. Undefined if it did not. */
  readonly cutShort: string | undefined;
  /** What could not be read from the account, and why. */
  readonly unread: readonly string[];
  readonly promises: readonly Promised[];
  readonly rows: readonly Row[];
  /** Cost of the load in US dollars; undefined if a figure of it was not reported. */
  readonly cost: number | undefined;
}

/**
 * How much later than `maxWait` the 99th percentile of the waits may be. The leader wakes when the wait ends; then come
 * the deliveries and requests until the call.
 */
const LATE_P99 = 1_000;

const TITLES = { burst: 'Burst', sustained: 'Sustained load' } as const;

export const compare = (observed: Observed, predicted: Outcome): Compared => {
  const { load, sent, sentOver, cutShort, unread } = observed;
  const cost = costOfFigures(observed.figures);
  const title = `${TITLES[load]}: ${count(sent)} tasks in ${span(sentOver)}`;
  // Nothing shows whether the promises hold.
  if (sent === 0) return { title, cutShort, unread, promises: [], rows: [], cost: 0 };
  return {
    title,
    cutShort,
    unread,
    promises: promisesOf(observed, predicted),
    rows: [...unitsOf(observed, predicted, cost), ...functionsOf(observed, predicted), ...trouble(observed, predicted)],
    cost,
  };
};

const promisesOf = ({ sent, called, states, load }: Observed, predicted: Outcome): Promised[] => {
  const of = predicted.operations.find(({ operation }) => operation === load);
  const { succeeded = 0 } = states;
  const others = Object.entries(states).filter(([state]) => state !== 'succeeded');
  const fill = called.sizes.mean / MAX_SIZE;
  return [
    {
      what: 'No task is lost: each was in a call, and ended',
      aws: [
        `${count(called.tasks)} of ${count(sent)} in a call, ${count(succeeded)} succeeded`,
        ...others.map(([state, tasks]) => `${count(tasks)} ${state}`),
      ].join(', '),
      simulated: of ? `${count(of.succeeded)} succeeded` : '',
      held: called.tasks === sent && succeeded === sent,
    },
    {
      what: 'No task is in two batches',
      aws: called.twice === 0 ? 'none' : count(called.twice),
      simulated: 'none',
      held: called.twice === 0,
    },
    {
      what: `No task waits much longer than maxWait (${span(MAX_WAIT)}), p99`,
      aws: `${span(called.waits.p99)}, ${span(called.late.p99)} late`,
      simulated: of ? `${span(of.waits.p99)}, ${span(of.late.p99)} late` : '',
      held: called.late.p99 <= LATE_P99,
    },
    {
      what: 'Batches are at least 90% as full as the simulator predicts',
      aws: `${percent(fill)}, ${count(called.sizes.mean)} tasks in a batch`,
      simulated: of ? `${percent(of.fill)}, ${count(of.sizes.mean)} tasks in a batch` : '',
      held: of === undefined || fill >= 0.9 * of.fill,
    },
  ];
};

const reported = (value: number | undefined, print: (value: number) => string = count): string =>
  value === undefined ? NOT_REPORTED : print(value);

const quantiles = ({ p50, p99, max }: Pick<Spread, 'p50' | 'p99' | 'max'>): string =>
  `p50 ${span(p50)}, p99 ${span(p99)}, longest ${span(max)}`;

const unitsOf = (
  { sent, called, figures: { all } }: Observed,
  { usage, operations }: Outcome,
  cost: number | undefined,
): Row[] => {
  const [of] = operations;
  const perTask = (value: number | undefined): string =>
    reported(value, (units) => `${count(units)} (${count(units / sent)} a task)`);
  const predictedCost = billOf(usage, AWS).total;
  const perMillion = (total: number): string =>
    `${dollars(total)} (${dollars((total * 1_000_000) / sent)} a million tasks)`;
  return [
    { what: 'Wait from send to call', aws: quantiles(called.waits), simulated: of ? quantiles(of.waits) : '' },
    { what: 'Batches', aws: count(called.batches), simulated: of ? count(of.batches) : '' },
    { what: 'Calls to the downstream', aws: count(called.calls), simulated: of ? count(of.calls) : '' },
    { what: 'Write units', aws: perTask(all.writeUnits), simulated: perTask(usage.writeUnits) },
    { what: 'Read units', aws: perTask(all.readUnits), simulated: perTask(usage.readUnits) },
    { what: 'Latency of DynamoDB, mean and longest', aws: latency(all), simulated: '' },
    {
      what: 'Messages sent, received and deleted, and empty receives',
      aws: reported(all.sent, (sent) =>
        [sent, ...[all.received, all.deleted, all.emptyReceives]].map((each) => reported(each)).join(', '),
      ),
      simulated: '',
    },
    {
      what: 'Requests to SQS',
      aws: reported(messagesIn(all), (messages) => `at most ${count(messages)}`),
      simulated: count(usage.sqsRequests),
    },
    { what: 'Bytes of logs', aws: reported(all.logBytes), simulated: '' },
    {
      what: 'Cost of DynamoDB, SQS and Lambda, at list prices',
      aws: reported(cost, (total) => `at most ${perMillion(total)}`),
      simulated: perMillion(predictedCost),
    },
  ];
};

const latency = ({ latencySum, requests, latencyMax }: Figures['all']): string =>
  latencySum === undefined || !requests || latencyMax === undefined
    ? NOT_REPORTED
    : `${span(latencySum / requests)}, ${span(latencyMax)}`;

const functionsOf = ({ figures: { byFunction }, coldStarts }: Observed, { usage }: Outcome): Row[] => [
  ...Object.entries(byFunction).map(([fn, figures]) => ({
    what: `Invocations of ${fn}; duration p50 and p99; most at once`,
    aws: functionFigures(figures),
    simulated: fn in usage.invocations ? count(usage.invocations[fn] ?? 0) : '',
  })),
  {
    what: 'Cold starts',
    aws: coldStarts ? `${count(coldStarts.count)}; ${quantiles(coldStarts)}` : NOT_REPORTED,
    simulated: '',
  },
];

const functionFigures = ({ invocations, durationP50, durationP99, atOnce }: Figures['all']): string =>
  invocations === undefined
    ? NOT_REPORTED
    : `${count(invocations)}; ${reported(durationP50, span)} and ${reported(durationP99, span)}; ${reported(atOnce)}`;

const trouble = ({ figures: { all }, earlyGuards }: Observed, predicted: Outcome): Row[] => [
  {
    what: 'Call of the downstream, p50 and p99',
    aws: reported(all.callP50, (p50) => `${span(p50)} and ${reported(all.callP99, span)}`),
    simulated: '',
  },
  { what: 'Throttled requests to tables and indexes', aws: reported(all.throttledRequests), simulated: '0' },
  { what: 'Throttled invocations', aws: reported(all.throttles), simulated: '0' },
  { what: 'Failed invocations', aws: reported(all.errors), simulated: '0' },
  { what: 'Early guards', aws: reported(earlyGuards), simulated: count(predicted.earlyGuards) },
  { what: 'Leaders taken over', aws: reported(all.takeovers), simulated: '0' },
  { what: 'Repairs', aws: reported(all.repairs), simulated: '0' },
  { what: 'Dead letters sent again', aws: reported(all.deadLetters), simulated: '0' },
  { what: 'Oldest waiting task', aws: reported(all.oldestWaiting, span), simulated: '' },
];
