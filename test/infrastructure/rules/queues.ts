/**
 * Rules that hold for every queue. The template's use of a queue tells its kind. An event source connects a *working*
 * queue to a function. A *dead-letter* queue is named by a working queue. A *final* queue (the rejected queue,
 * destinations) has no event source, so that no function of the stack can fail on its messages.
 */

import { ENVIRONMENT } from '../../../src/domain/deployed/environment.ts';
import {
  CALLBACK_MARGIN,
  CALLBACK_RECEIVES,
  LEADER_TIMEOUT,
  LEADER_VISIBILITY,
  LEASE,
  MAX_RECEIVES,
} from '../../../src/domain/timings.ts';
import {
  deadLetterQueuesOf,
  functionsOf,
  mayOn,
  queuesOf,
  type Statement,
  sourcesOf,
  statementsOfQueuePolicy,
} from './flow.ts';
import { at, differing, idOf, listOf, ofType, type Rule, type Template } from './template.ts';

/** Whether a function changes the visibility of this queue's messages, since it has retry delays of its own. */
const putsOff = (template: Template, fn: string, queue: string): boolean =>
  mayOn(template, fn, 'sqs:ChangeMessageVisibility').includes(queue);

export const workingQueuesHaveDeadLetterQueues: Rule = (template) => {
  const sources = sourcesOf(template);
  const working = new Set(sources.map(({ queue }) => queue));
  const deadLetters = deadLetterQueuesOf(template);
  return queuesOf(template).flatMap(([id, properties]) => {
    if (!working.has(id))
      return deadLetters.has(id) ? [`${id}: no function reads it, yet it has a dead-letter queue`] : [];
    const own = deadLetters.get(id);
    if (!own) return [`${id}: a function reads it, and it has no dead-letter queue`];
    const sharers = [...deadLetters].filter(([, queue]) => queue === own).map(([queue]) => queue);
    return [
      ...(sharers.length > 1 ? [`${own}: takes the dead letters of ${sharers.join(' and ')}`] : []),
      ...(working.has(own) ? [`${own}: is a dead-letter queue and a working queue`] : []),
      ...differing(id, properties, {
        'RedrivePolicy.maxReceiveCount': sources.some(({ queue, fn }) => queue === id && putsOff(template, fn, id))
          ? CALLBACK_RECEIVES
          : MAX_RECEIVES,
      }),
    ];
  });
};

/**
 * Without a scheduled function that sends dead letters again, tasks would be lost. The API does not count: a person
 * has to call it.
 */
export const deadLettersAreSentAgain: Rule = (template) => {
  const scheduled = ofType(template, 'AWS::Events::Rule').flatMap(([, { Targets }]) =>
    listOf(Targets as { Arn?: unknown }[] | undefined).map(({ Arn }) => idOf(Arn)),
  );
  return [...deadLetterQueuesOf(template)].flatMap(([queue, deadLetters]) => {
    const by = scheduled.filter(
      (fn) =>
        mayOn(template, fn, 'sqs:ReceiveMessage').includes(deadLetters) &&
        mayOn(template, fn, 'sqs:DeleteMessage').includes(deadLetters) &&
        mayOn(template, fn, 'sqs:SendMessage').includes(queue),
    );
    return by.length > 0
      ? []
      : [`${deadLetters}: no scheduled function may take its messages and send them to ${queue} again`];
  });
};

/** SQS keeps messages for at most 14 days. A delay would slow down every message. */
export const queuesKeepMessagesEncrypted: Rule = (template) =>
  queuesOf(template).flatMap(([id, properties]) =>
    differing(id, properties, {
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 14 * 24 * 3_600,
      DelaySeconds: undefined,
      KmsMasterKeyId: undefined,
    }),
  );

const EVERYONE = [{ AWS: '*' }, '*'].map((each) => JSON.stringify(each));

/** Each queue needs a statement on itself, and no queue policy may let in another principal. */
export const queuesTakeTlsOnly: Rule = (template) => {
  const policies = ofType(template, 'AWS::SQS::QueuePolicy').map(([id, properties]) => ({
    id,
    queues: listOf(properties.Queues).map(idOf),
    statements: statementsOfQueuePolicy(properties),
  }));
  const isDenied = (queue: string): boolean =>
    policies.some(
      ({ queues, statements }) =>
        queues.includes(queue) &&
        statements.some(
          ({ Effect, Action, Principal, Condition, Resource }) =>
            Effect === 'Deny' &&
            listOf(Action).includes('sqs:*') &&
            EVERYONE.includes(JSON.stringify(Principal)) &&
            JSON.stringify(Condition) === JSON.stringify({ Bool: { 'aws:SecureTransport': 'false' } }) &&
            JSON.stringify(listOf(Resource)) === JSON.stringify([{ 'Fn::GetAtt': [queue, 'Arn'] }]),
        ),
    );
  return [
    ...queuesOf(template).flatMap(([id]) => (isDenied(id) ? [] : [`${id}: may be used without TLS`])),
    ...policies.flatMap(({ id, statements }) =>
      statements.some((statement) => statement.Effect !== 'Deny' && !isForOurRules(template, statement))
        ? [`${id}: lets another principal in by the queue's own policy`]
        : [],
    ),
  ];
};

/** Whether a statement only lets EventBridge put in what rules of this template match. */
const isForOurRules = (template: Template, { Action, Principal, Condition }: Statement): boolean => {
  const rules = listOf(at((Condition ?? {}) as object, 'ArnEquals.aws:SourceArn') as unknown[] | undefined).map(idOf);
  return (
    JSON.stringify([Action, Principal]) === '["sqs:SendMessage",{"Service":"events.amazonaws.com"}]' &&
    rules.length > 0 &&
    rules.every((rule) => template.Resources[rule]?.Type === 'AWS::Events::Rule')
  );
};

/** Whether a function leads Targets: it has a leader's timeout, and may read and update a single lock row. */
const leads = (template: Template, fn: string): boolean => {
  const properties = template.Resources[fn]?.Properties ?? {};
  const locks = idOf(at(properties, `Environment.Variables.${ENVIRONMENT.batchLockTable}`));
  const may = (action: string): boolean => mayOn(template, fn, action).includes(locks);
  return properties.Timeout === LEADER_TIMEOUT / 1_000 && may('dynamodb:GetItem') && may('dynamodb:UpdateItem');
};

/**
 * AWS recommends a visibility timeout of six function timeouts, so that a throttled batch is retried within it. A
 * leader's messages are an exception: the guard of a crashed leader must come back soon after its lease ends, so
 * timeout < lease < visibility. Events are another: a failed event comes back after its own delay, and the event of a
 * crashed function soon after the timeout.
 */
export const messagesStayHiddenLongEnough: Rule = (template) =>
  sourcesOf(template).flatMap(({ queue, fn, properties: { MaximumBatchingWindowInSeconds: window = 0 } }) => {
    const seconds = Number(template.Resources[fn]?.Properties.Timeout);
    const visibility = leads(template, fn)
      ? LEADER_VISIBILITY / 1_000
      : putsOff(template, fn, queue)
        ? seconds + CALLBACK_MARGIN / 1_000
        : 6 * seconds + Number(window);
    const isOrdered = !leads(template, fn) || (seconds * 1_000 < LEASE && LEASE < visibility * 1_000);
    return [
      ...differing(queue, template.Resources[queue]?.Properties ?? {}, { VisibilityTimeout: visibility }),
      ...(isOrdered ? [] : [`${fn}: timeout < lease < visibility does not hold`]),
    ];
  });

/**
 * Queues whose messages may be the only record of a task: the register queue, its dead letters, and refused or
 * given-up messages.
 */
const holdTasks = (template: Template): string[] => {
  const named = new Set(
    functionsOf(template).flatMap(([, properties]) =>
      [ENVIRONMENT.registerQueue, ENVIRONMENT.registerDeadLetters, ENVIRONMENT.rejectedQueue, ENVIRONMENT.givenUpQueue]
        .map((setting) => idOf(at(properties, `Environment.Variables.${setting}`)))
        .filter((id) => id !== ''),
    ),
  );
  return [...named];
};

/** The other queues carry hints; the tables hold the state. */
export const queuesOfTasksOutliveTheirStack =
  (kept: boolean): Rule =>
  (template) =>
    holdTasks(template).flatMap((id) =>
      differing(id, template.Resources[id] ?? {}, {
        DeletionPolicy: kept ? 'RetainExceptOnCreate' : 'Delete',
        UpdateReplacePolicy: kept ? 'Retain' : 'Delete',
      }),
    );
