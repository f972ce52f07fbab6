/** Rules on what alarms watch, and on their descriptions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENVIRONMENT } from '../../../src/domain/deployed/environment.ts';
import { anchorsOf } from '../../factories/markdown.ts';
import { deadLetterQueuesOf, functionsOf } from './flow.ts';
import { idOf, listOf, ofType, type Rule, type Template } from './template.ts';

interface Alarm {
  readonly id: string;
  readonly metric: string;
  readonly description: string;
  /** The logical id, or the literal, of each dimension's value. */
  readonly of: Readonly<Record<string, string>>;
  /** Whether the alarm starts once its metric was 1 or more on each of seven days. */
  readonly isOfAWeek: boolean;
}

const alarmsOf = (template: Template): Alarm[] =>
  ofType(template, 'AWS::CloudWatch::Alarm').map(
    ([id, { MetricName, AlarmDescription, Dimensions, Statistic, ...at }]) => ({
      id,
      metric: String(MetricName),
      description: String(AlarmDescription),
      isOfAWeek: Statistic === 'Maximum' && at.Period === 86_400 && at.EvaluationPeriods === 7 && at.Threshold === 1,
      of: Object.fromEntries(
        (Dimensions as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [
          Name,
          typeof Value === 'string' ? Value : idOf(Value),
        ]),
      ),
    }),
  );

/** A complaint for each resource and metric without an alarm. */
const unwatched = (
  template: Template,
  ids: readonly string[],
  dimension: string,
  metrics: readonly string[],
  which: (alarm: Alarm) => boolean = () => true,
): string[] => {
  const alarms = alarmsOf(template).filter(which);
  const watched = new Set(alarms.map(({ metric, of }) => `${of[dimension]} ${metric}`));
  return ids.flatMap((id) =>
    metrics.filter((metric) => !watched.has(`${id} ${metric}`)).map((metric) => `${id} has no alarm of its ${metric}`),
  );
};

const LYING = ['ApproximateNumberOfMessagesVisible'];

/** Queues without a dead-letter queue. */
const lyingIn = (template: Template): string[] =>
  ofType(template, 'AWS::SQS::Queue').flatMap(([id, { RedrivePolicy }]) => (RedrivePolicy ? [] : [id]));

/**
 * Messages of a queue that no function reads lie there until a person acts. The sweep empties dead-letter queues each
 * minute, so the depth of such a queue may never show a message; the counter of the sweep does.
 */
export const lyingMessagesAreWatched: Rule = (template) => {
  const deadLetters = new Set(deadLetterQueuesOf(template).values());
  const final = lyingIn(template).filter((id) => !deadLetters.has(id));
  return [
    ...unwatched(template, final, 'QueueName', LYING, ({ isOfAWeek }) => !isOfAWeek),
    ...unwatched(template, namesOf(template, deadLetters), 'queue', ['DeadLettersRevived']),
  ];
};

/** The names of queues in metrics, from the functions' settings of their dead-letter queues. */
const namesOf = (template: Template, deadLetters: ReadonlySet<string>): string[] => {
  const named = new Map<string, string>();
  for (const [, { Environment }] of functionsOf(template))
    for (const [variable, value] of Object.entries((Environment as { Variables: object }).Variables)) {
      const [setting] = Object.entries(ENVIRONMENT).find(([, each]) => each === variable) ?? [];
      if (setting?.endsWith('DeadLetters')) named.set(idOf(value), setting.replace('DeadLetters', ''));
    }
  return [...deadLetters].map((id) => named.get(id) ?? id);
};

/** SQS deletes the messages after 14 days. The alarm after a week reaches a person who missed the first alarm. */
export const vanishingMessagesAreWatched: Rule = (template) =>
  unwatched(template, lyingIn(template), 'QueueName', LYING, ({ isOfAWeek }) => isOfAWeek);

/**
 * CloudWatch counts the throttled requests of a table without those of its indexes. A throttled write of an index makes
 * the write of its table fail, so it needs an alarm of its own.
 */
export const throttlesAreWatched: Rule = (template) => {
  const tables = ofType(template, 'AWS::DynamoDB::Table');
  const isOfTable = ({ of }: Alarm): boolean => of.GlobalSecondaryIndexName === undefined;
  return [
    ...unwatched(
      template,
      ofType(template, 'AWS::Lambda::Function').map(([id]) => id),
      'FunctionName',
      ['Throttles'],
    ),
    ...unwatched(
      template,
      tables.map(([id]) => id),
      'TableName',
      ['ReadThrottleEvents', 'WriteThrottleEvents'],
      isOfTable,
    ),
    ...tables.flatMap(([table, { GlobalSecondaryIndexes = [] }]) =>
      unwatched(
        template,
        (GlobalSecondaryIndexes as { IndexName: string }[]).map(({ IndexName }) => IndexName),
        'GlobalSecondaryIndexName',
        ['WriteThrottleEvents'],
        ({ of }) => of.TableName === table,
      ),
    ),
  ];
};

/** Functions that a schedule starts. No caller would notice that they stopped. */
export const scheduledFunctionsAreWatched: Rule = (template) => {
  const started = ofType(template, 'AWS::Events::Rule').flatMap(([, { ScheduleExpression, Targets }]) =>
    ScheduleExpression ? (Targets as { Arn: unknown }[]).map(({ Arn }) => idOf(Arn)) : [],
  );
  return unwatched(template, started, 'FunctionName', ['Invocations', 'Errors']);
};

const RUNBOOK = readFileSync(join(import.meta.dirname, '../../../docs/how-to/operate.md'), 'utf8');

/** A description ends with a link to an existing section. CloudWatch takes 1,024 characters. */
export const alarmsLinkToTheRunbook: Rule = (template) => {
  const anchors = anchorsOf(RUNBOOK);
  return alarmsOf(template).flatMap(({ id, description }) => {
    const [, says = '', anchor = ''] = /^(.{20,}: .{10,})\. \S+operate\.md#([\w-]+)$/.exec(description) ?? [];
    if (says === '') return [`${id} does not say what happened, what to do, and where the runbook is: ${description}`];
    if (description.length > 1_024) return [`${id} is too long`];
    return anchors.has(anchor) ? [] : [`${id} links to #${anchor}, which docs/how-to/operate.md lacks`];
  });
};

/** @param topic receives a message when an alarm starts and when it ends; undefined if there is no topic. */
export const alarmsTell =
  (topic: string | undefined): Rule =>
  (template) =>
    ofType(template, 'AWS::CloudWatch::Alarm').flatMap(([id, { AlarmActions, OKActions, ActionsEnabled }]) => {
      const told = [AlarmActions, OKActions].map((actions) => listOf(actions as string[] | undefined));
      const isRight = told.every((each) => JSON.stringify(each) === JSON.stringify(topic === undefined ? [] : [topic]));
      return isRight && ActionsEnabled !== false ? [] : [`${id} tells ${JSON.stringify(told)}`];
    });

/** An alarm with math, anomaly detection or another stack's metrics costs more than one with a single metric. */
export const alarmsLookAtOneMetric: Rule = (template) =>
  ofType(template, 'AWS::CloudWatch::Alarm').flatMap(([id, { Metrics, Dimensions }]) =>
    Metrics === undefined && Dimensions !== undefined ? [] : [`${id} looks at more than one metric`],
  );
