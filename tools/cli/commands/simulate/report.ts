/** Text output of `groupage simulate`. */
import type { Operation } from '../../../../src/domain/config/resolved.ts';
import type { Aim } from '../../../simulate/aims.ts';
import { costOf } from '../../../simulate/cost.ts';
import { callsPerHour, count, dollars, percent, span } from '../../../simulate/figures.ts';
import type { LimitOutcome, Outcome } from '../../../simulate/outcome.ts';
import type { Platform } from '../../../simulate/platform.ts';
import { PRICES } from '../../../simulate/prices.ts';
import type { Recommended } from '../../../simulate/recommend.ts';
import { type Policy, printPolicy, type SettingName, written } from '../../../simulate/settings.ts';
import type { Tried, Varied } from '../../../simulate/vary.ts';
import { fields, plural, printable, table } from '../../../terminal.ts';

/** Results of one simulation of the configuration. */
export const describeOutcome = (outcome: Outcome, surroundings: Platform): string =>
  [
    batchesIn(outcome),
    waitsIn(outcome),
    callsIn(outcome),
    ...limitsIn(outcome),
    ...(outcome.rejected > 0
      ? [
          `${plural(outcome.rejected, 'task')} refused:\n${outcome.rejections.map((each) => `  ${printable(each)}`).join('\n')}`,
        ]
      : []),
    spentIn(outcome, surroundings),
  ].join('\n\n');

const batchesIn = ({ operations }: Outcome): string =>
  table(
    ['OPERATION', 'TASKS', 'FAILED', 'BATCHES', 'TASKS/BATCH', 'FILL', 'SEALED BY'],
    operations.map(({ operation, tasks, failed, batches, sizes, fill, sealedBy }) => [
      operation,
      tasks,
      failed,
      batches,
      count(sizes.mean),
      percent(fill),
      Object.entries(sealedBy)
        .map(([because, many]) => `${because} ${count(many)}`)
        .join(', '),
    ]),
  );

const waitsIn = ({ operations }: Outcome): string =>
  table(
    ['WAIT FOR A CALL', 'p50', 'p95', 'p99', 'MAX', 'LATE p99', 'LATE MAX'],
    operations.map(({ operation, waits, late }) => [
      operation,
      ...[waits.p50, waits.p95, waits.p99, waits.max, late.p99, late.max].map(span),
    ]),
  );

const callsIn = ({ operations, sentOver }: Outcome): string =>
  table(
    ['DOWNSTREAM', 'CALLS', 'CALLS/HOUR', 'TASKS/CALL', 'THROTTLED', 'NO RESPONSE'],
    operations.map(({ operation, tasks, calls, calledOver, throttled, unanswered }) => [
      operation,
      calls,
      sentOver > 0 ? count(callsPerHour({ calls, calledOver }, sentOver)) : '',
      calls > 0 ? count(tasks / calls) : '',
      throttled,
      unanswered,
    ]),
  );

const limitsIn = ({ limits }: Outcome): readonly string[] => {
  if (limits.length === 0) return [];
  const rows = table(
    ['LIMIT', 'CALLS', 'DELAYED', 'OLDEST TASK p50', 'p99', 'MAX'],
    limits.map(({ limit, calls, delayed, ages }) => [
      limit,
      calls,
      delayed,
      ...[ages.p50, ages.p99, ages.max].map((each) => (delayed > 0 ? span(each) : '')),
    ]),
  );
  const binding = bindingOf(limits);
  return [rows, ...(binding ? [`${printable(sentenceOf(binding))} ${REMEDY}`] : [])];
};

/** If a limit delays a smaller share of its calls, it hardly matters. */
const BINDING_MIN = 0.1;

/** The limit that delays most calls. A call under several limits is delayed by the one that is free last. */
const bindingOf = (limits: Outcome['limits']): LimitOutcome | undefined =>
  limits.filter(({ calls, delayed }) => delayed > BINDING_MIN * calls).toSorted((a, b) => b.delayed - a.delayed)[0];

const sentenceOf = ({ limit, calls, delayed }: LimitOutcome): string =>
  `The limit ${limit} delayed ${count(Math.min(delayed, calls))} of ${plural(calls, 'call')}.`;

const REMEDY =
  'Waiting tasks fill their batch, up to maxSize and maxWeight. If tasks are late, raise the limit. If it limits the number of calls, you can also make fewer: with a larger maxSize if batches are full, otherwise with fewer target fields.';

const spentIn = (outcome: Outcome, surroundings: Platform): string => {
  const { usage, operations, sentOver, span: lasted } = outcome;
  const tasks = operations.reduce((sum, each) => sum + each.tasks, 0);
  const cost = costOf(outcome, surroundings);
  const invocations = Object.values(usage.invocations).reduce((sum, each) => sum + each, 0);
  const perTask = (value: number): string => (tasks > 0 ? `${count(value / tasks)} per task` : '0 per task');
  return fields([
    ['sent', `${plural(tasks, 'task')} over ${span(sentOver)}; the last task ended after ${span(lasted)}`],
    [
      'DynamoDB',
      `write units: ${perTask(usage.writeUnits)}, read units: ${perTask(usage.readUnits)}; ${dollars(cost.dynamodb)}`,
    ],
    ['SQS', `requests: ${perTask(usage.sqsRequests)}; ${dollars(cost.sqs)}`],
    ['Lambda', `invocations: ${perTask(invocations)}, ${span(usage.lambdaMillis)} in total; ${dollars(cost.lambda)}`],
    [
      'cost',
      `${[cost.perMillion === null ? '' : `${dollars(cost.perMillion)} per million tasks`, cost.perDay === null ? '' : `${dollars(cost.perDay)} per day at this rate`].filter(Boolean).join(', ')} (prices of ${PRICES.region}, ${PRICES.asOf}, without free tiers)`,
    ],
    [
      'producers',
      `not included: ${dollars(cost.producersPerMillion.oneByOne)} per million tasks to send them one by one, ${dollars(cost.producersPerMillion.tenAtOnce)} in groups of ten`,
    ],
  ]);
};

const policyRows = (tried: readonly Tried[], mark: (each: Tried) => string): string =>
  table(
    ['POLICY', 'WAIT p50', 'p99', 'MAX', 'CALLS/HOUR', 'TASKS/BATCH', 'FILL', 'COST/DAY', 'PER MILLION TASKS', ''],
    tried.map((each) => [
      printPolicy(each.policy),
      span(each.wait.p50),
      span(each.wait.p99),
      span(each.wait.max),
      Math.round(each.callsPerHour),
      count(each.size),
      percent(each.fill),
      dollars(each.perDay),
      dollars(each.perMillion),
      mark(each),
    ]),
  );

/** Compares policies, in the order of the grid. */
export const describeVaried = ({ tried, refused, front, knee }: Varied): string => {
  const rows = policyRows(tried, (each) => (each === knee ? 'knee' : front.includes(each) ? '' : 'dominated'));
  const not = refused.map(({ policy, reason }) => `not simulated: ${printPolicy(policy)}: ${printable(reason)}`);
  const bend =
    knee === undefined
      ? 'The curve has no knee: longer waiting saves calls at a constant rate.'
      : `The knee is ${printPolicy(knee.policy)}. Up to this policy, each longer wait saves many calls; beyond it, far fewer. "dominated": another policy is at least as good in wait (p99), calls and cost, and better in one of them.`;
  return [rows, ...(not.length > 0 ? [not.join('\n')] : []), ...(tried.length > 1 ? [bend] : [])].join('\n\n');
};

/** The recommended policy, with the lines for the configuration, or why no policy meets the aims. */
export const describeRecommended = (
  { proposed, nearest, contradicting, unmet, simulations }: Recommended,
  { operation }: Operation,
  aims: readonly Aim[],
  limits: Outcome['limits'],
): string => {
  const binding = bindingOf(limits);
  const tried = `after ${plural(simulations, 'simulation')}`;
  if (proposed)
    return [
      `The cheapest policy that meets ${aims.map(quoted).join(' and ')}, ${tried}:`,
      policyRows([proposed], () => ''),
      `operations: {\n  '${operation}': {\n    batch: { ${linesOf(proposed.policy)} },`,
    ].join('\n\n');
  return [
    `No policy meets all aims, ${tried}.`,
    ...(unmet.length > 0 ? [`No policy meets ${unmet.map(quoted).join(', or ')}.`] : []),
    ...(contradicting.length > 0
      ? [`These aims contradict each other: ${contradicting.map(quoted).join(' and ')}.`]
      : []),
    ...(binding ? [`${printable(sentenceOf(binding))} No policy changes how many calls it allows.`] : []),
    ...(nearest ? ['The nearest policy:', policyRows([nearest], () => '')] : []),
  ].join('\n\n');
};

const quoted = ({ text }: Aim): string => `"${printable(text)}"`;

/** The policy as lines of a configuration. A quiet period of 0 is the default, so it is omitted. */
const linesOf = (policy: Policy): string =>
  (Object.entries(policy) as [SettingName, number][])
    .filter(([name, value]) => name !== 'quietPeriod' || value > 0)
    .map(([name, value]) => [name, written(name, value)] as const)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`)
    .join(', ');
