/** Names of AWS resources in a configuration: a name in the stack's account and region, or an ARN. */
import { text } from './rules.ts';

/** Matches a name, or an ARN of the service with `resource` as its last part. Neither may contain wildcards. */
const nameOrArn = (name: string, service: string, resource = name): RegExp =>
  new RegExp(`^(?:${name}|arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource})$`);

const QUEUE = '[A-Za-z0-9_-]{1,80}';
const TOPIC = '[A-Za-z0-9_-]{1,256}';
const BUS = '[A-Za-z0-9._/-]{1,256}';
const FUNCTION = '[A-Za-z0-9_-]{1,64}';
const MACHINE = '[A-Za-z0-9_-]{1,80}';
const SECRET = '[A-Za-z0-9/_+=.@-]{1,512}';
/** A function's version or alias. */
const QUALIFIER = '(?::[A-Za-z0-9_-]{1,128})?';

/**
 * FIFO queues are not allowed: they need a message group, and one failing message blocks the other messages of its
 * group.
 */
export const queueName = text(
  nameOrArn(QUEUE, 'sqs'),
  'the name or the ARN of a standard queue (not its URL, and no FIFO queue)',
);
export const topicName = text(nameOrArn(TOPIC, 'sns'), 'the name or the ARN of a standard topic (no FIFO topic)');
export const busName = text(nameOrArn(BUS, 'events', `event-bus/${BUS}`), 'the name or the ARN of an event bus');
export const functionName = text(
  nameOrArn(FUNCTION, 'lambda', `function:${FUNCTION}${QUALIFIER}`),
  'the name or the ARN of a function (with an alias or a version: the ARN)',
);
export const machineName = text(
  nameOrArn(MACHINE, 'states', `stateMachine:${MACHINE}${QUALIFIER}`),
  'the name or the ARN of a state machine',
);

/** An alarm action needs an ARN, and CloudWatch cannot publish to a FIFO topic. */
export const ALARM_TOPIC = new RegExp(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\\d{12}:${TOPIC}$`);

/** SSM allows plain names and paths from the root. */
export const PARAMETER_NAME = /^(?:[A-Za-z0-9_.-]{1,1000}|(?=.{1,1000}$)(?:\/[A-Za-z0-9_.-]+){1,15})$/;
export const SECRET_NAME = nameOrArn(SECRET, 'secretsmanager', `secret:${SECRET}`);
