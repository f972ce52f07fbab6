/**
 * The queues: the working queues, each with a dead-letter queue, and the queues for rejected messages and given-up
 * events.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { MAX_RECEIVES, RETENTION } from '../src/domain/timings.ts';
import { acknowledge } from './acknowledge.ts';
import { checkKey, KEY_REUSE } from './encryption.ts';
import { physicalName } from './names.ts';
import { type DataProps, isKept } from './surroundings.ts';

/** @param name the name after the prefix. */
const secure = (scope: IConstruct, { prefix, encryptionKey }: DataProps, name: string): QueueProps => {
  checkKey(scope, encryptionKey);
  const queueName = physicalName(scope, prefix, name);
  return {
    ...(encryptionKey
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey, dataKeyReuse: KEY_REUSE }
      : { encryption: QueueEncryption.SQS_MANAGED }),
    enforceSSL: true,
    retentionPeriod: Duration.millis(RETENTION),
    ...(queueName === undefined ? {} : { queueName }),
  };
};

/** The removal policy of a queue. If the queue is kept, it outlives its stack, unless its creation failed. */
const kept = (retain: boolean): Pick<QueueProps, 'removalPolicy'> =>
  retain ? { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE } : {};

export interface WorkingQueueProps extends DataProps {
  /** Time after which a message that was not deleted is delivered again. */
  readonly visibility: Duration;
  /** The queue's name without the prefix of the instance. */
  readonly name: string;
  /**
   * Whether a message may be the only record of a task. If so, the queue and its dead letters are kept together with
   * the tables.
   * @default false
   */
  readonly holdsTasks?: boolean;
  /**
   * How often a message is received before it becomes a dead letter.
   * @default 5
   */
  readonly maxReceives?: number;
}

/** A queue that a function reads. The sweep sends its dead letters again. */
export class WorkingQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  /** Time after which a message that was not deleted is delivered again. */
  readonly visibility: Duration;
  /** The customer's key that encrypts both queues, if any. */
  readonly encryptionKey: IKey | undefined;

  /** @throws InvalidProps */
  constructor(
    scope: Construct,
    id: string,
    { visibility, name, holdsTasks = false, maxReceives = MAX_RECEIVES, ...props }: WorkingQueueProps,
  ) {
    super(scope, id);
    this.encryptionKey = props.encryptionKey;
    this.visibility = visibility;
    const retain = holdsTasks && isKept(this, props.removalPolicy);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      ...secure(this, props, `${name}-dead-letters`),
      ...kept(retain),
    });
    this.queue = new Queue(this, 'Queue', {
      ...secure(this, props, name),
      ...kept(retain),
      visibilityTimeout: visibility,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    });
  }
}

/**
 * A queue that no function reads. Kept together with the tables.
 * @param why it has no dead-letter queue, for cdk-nag.
 */
const finalQueue = (scope: Construct, props: DataProps, name: string, why: string): Queue => {
  const queue = new Queue(scope, 'Queue', {
    ...secure(scope, props, name),
    ...kept(isKept(scope, props.removalPolicy)),
  });
  acknowledge(queue, 'AwsSolutions-SQS3', why);
  return queue;
};

/**
 * The queue of rejected messages with their reasons, until a user sends them again or deletes them. Kept together with
 * the tables.
 */
export class RejectedQueue extends Construct {
  readonly queue: Queue;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: DataProps = {}) {
    super(scope, id);
    this.queue = finalQueue(
      this,
      props,
      'rejected',
      'Its messages were rejected with reasons, and no function reads them. A message that cannot be sent again when a user asks for it stays in the queue.',
    );
  }
}

/** The queue of events that no destination accepted for three days, until a user sends them again or deletes them. */
export class GivenUpQueue extends Construct {
  readonly queue: Queue;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: DataProps = {}) {
    super(scope, id);
    this.queue = finalQueue(
      this,
      props,
      'given-up',
      'Its messages were retried for days, and no function reads them. A message that cannot be sent again when a user asks for it stays in the queue.',
    );
  }
}
