/** What `groupage simulate` prints for people. */
import type { Operation } from '../../../../src/domain/config/resolved.ts';
import type { Aim } from '../../../simulate/aims.ts';
import { costOf } from '../../../simulate/cost.ts';
import { callsPerHour, count, dollars, percent, span } from '../../../simulate/figures.ts';
import type { Outcome } from '../../../simulate/outcome.ts';
import type { Platform } from '../../../simulate/platform.ts';
import { PRICES } from '../../../simulate/prices.ts';
import type { Recommended } from '../../../simulate/recommend.ts';
import { type Policy, printPolicy, type SettingName, written } from '../../../simulate/settings.ts';
import type { Tried, Varied } from '../../../simulate/vary.ts';
import { fields, plural, printable, table } from '../../../terminal.ts';

/** One trace with the configuration as it is. */
export const describeOutcome = (outcome: Outcome, surroundings: Platform): string =>
  [
    batchesIn(outcome),
    waitsIn(outcome),
    callsIn(outcome),
    ...(outcome.rejected > 0
      ? [
          `${plural(outcome.rejected, 'task')} refused:\n${outcome.rejections.map((each) => `  ${printable(each)}`).join('\n')}`,
        ]
      : []),
    spentIn(outcome, surroundings),
  ].join('\n\n');

const batchesIn = ({ operations }: Outcome): string =>
  table(
    ['OPERATION', 'TASKS', 'FAILED', 'BATCHES', 'TASKS A BATCH', 'FILL', 'SEALED BECAUSE'],
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
    ['WAITED FOR A CALL', 'HALF UP TO', '95%', '99%', 'LONGEST', 'LATE: 99%', 'LONGEST'],
    operations.map(({ operation, waits, late }) => [
      operation,
      ...[waits.p50, waits.p95, waits.p99, waits.max, late.p99, late.max].map(span),
    ]),
  );

const callsIn = ({ operations, sentOver }: Outcome): string =>
  table(
    ['CALLED', 'CALLS', 'AN HOUR', 'TASKS A CALL', 'THROTTLED', 'UNANSWERED'],
    operations.map(({ operation, tasks, calls, calledOver, throttled, unanswered }) => [
      operation,
      calls,
      sentOver > 0 ? count(callsPerHour({ calls, calledOver }, sentOver)) : '',
      calls > 0 ? count(tasks / calls) : '',
      throttled,
      unanswered,
    ]),
  );

const spentIn = (outcome: Outcome, surroundings: Platform): string => {
  const { usage, operations, sentOver, span: lasted } = outcome;
  const tasks = operations.reduce((sum, each) => sum + each.tasks, 0);
  const cost = costOf(outcome, surroundings);
  const invocations = Object.values(usage.invocations).reduce((sum, each) => sum + each, 0);
  const perTask = (value: number): string => (tasks > 0 ? `${count(value / tasks)} a task` : 'none a task');
  return fields([
    ['sent', `${plural(tasks, 'task')} over ${span(sentOver)}; all had ended after ${span(lasted)}`],
    [
      'DynamoDB',
      `${perTask(usage.writeUnits)} written, ${perTask(usage.readUnits)} read (units): ${dollars(cost.dynamodb)}`,
    ],
    ['SQS', `${perTask(usage.sqsRequests)} (requests): ${dollars(cost.sqs)}`],
    ['Lambda', `${perTask(invocations)} (invocations), ${span(usage.lambdaMillis)} in all: ${dollars(cost.lambda)}`],
    [
      'cost',
      `${[cost.perMillion === null ? '' : `${dollars(cost.perMillion)} a million tasks`, cost.perDay === null ? '' : `${dollars(cost.perDay)} a day at this rate`].filter(Boolean).join(', ')} (${PRICES.region}, ${PRICES.asOf}, no free tiers)`,
    ],
    [
      'producers',
      `besides, ${dollars(cost.producersPerMillion.oneByOne)} a million tasks for sending them one by one, ${dollars(cost.producersPerMillion.tenAtOnce)} for ten at once`,
    ],
  ]);
};

const policyRows = (tried: readonly Tried[], mark: (each: Tried) => string): string =>
  table(
    [
      'POLICY',
      'HALF WAIT UP TO',
      '99%',
      'LONGEST',
      'CALLS AN HOUR',
      'TASKS A BATCH',
      'FILL',
      'A DAY',
      'A MILLION TASKS',
      '',
    ],
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

/** The trade-off; in the order of the grid. */
export const describeVaried = ({ tried, refused, front, knee }: Varied): string => {
  const rows = policyRows(tried, (each) => (each === knee ? 'the knee' : front.includes(each) ? '' : 'beaten'));
  const not = refused.map(({ policy, reason }) => `not tried: ${printPolicy(policy)}: ${printable(reason)}`);
  const bend =
    knee === undefined
      ? 'The curve has no knee: each call that is saved costs as much waiting.'
      : `The knee is ${printPolicy(knee.policy)}: up to there waiting saves the most calls. "Beaten": another policy is as good in waiting (99%), calls and cost, and better in one.`;
  return [rows, ...(not.length > 0 ? [not.join('\n')] : []), ...(tried.length > 1 ? [bend] : [])].join('\n\n');
};

/** What was found, with the lines for the configuration; or why nothing was. */
export const describeRecommended = (
  { proposed, nearest, contradicting, unmet, simulations }: Recommended,
  { operation }: Operation,
  aims: readonly Aim[],
): string => {
  const tried = `after ${plural(simulations, 'simulation')}`;
  if (proposed)
    return [
      `The cheapest policy that meets ${aims.map(quoted).join(' and ')}, ${tried}:`,
      policyRows([proposed], () => ''),
      `operations: {\n  '${operation}': {\n    batch: { ${linesOf(proposed.policy)} },`,
    ].join('\n\n');
  return [
    `No policy meets all aims, ${tried}.`,
    ...(unmet.length > 0 ? [`None meets ${unmet.map(quoted).join(', or ')}.`] : []),
    ...(contradicting.length > 0 ? [`These contradict each other: ${contradicting.map(quoted).join(' and ')}.`] : []),
    ...(nearest ? ['The nearest:', policyRows([nearest], () => '')] : []),
  ].join('\n\n');
};

const quoted = ({ text }: Aim): string => `"${printable(text)}"`;

/** As the configuration has them; no quiet period is the default. */
const linesOf = (policy: Policy): string =>
  (Object.entries(policy) as [SettingName, number][])
    .filter(([name, value]) => name !== 'quietPeriod' || value > 0)
    .map(([name, value]) => [name, written(name, value)] as const)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`)
    .join(', ');
