/** The queues: those that work flows through, each with a dead-letter queue, and one for refused messages. */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { MAX_RECEIVES, RETENTION } from '../src/domain/timings.ts';
import { acknowledge } from './acknowledge.ts';
import { checkKey, KEY_REUSE } from './encryption.ts';
import { physicalName } from './names.ts';
import { type DataProps, isKept } from './surroundings.ts';

/** @param name after the prefix. */
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

/** A queue outlives its stack, but for one that could not be created. */
const kept = (retain: boolean): Pick<QueueProps, 'removalPolicy'> =>
  retain ? { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE } : {};

export interface WorkingQueueProps extends DataProps {
  /** After this an undeleted message is delivered again. */
  readonly visibility: Duration;
  /** After the prefix, where there is one. */
  readonly name: string;
  /**
   * Whether a message may be all that there is of a task: then the queue and its dead letters are kept, with the tables.
   * @default false
   */
  readonly holdsTasks?: boolean;
  /**
   * How often a message is received before it is a dead letter.
   * @default 5
   */
  readonly maxReceives?: number;
}

/** A queue that a λ works off; the sweep sends its dead letters again. */
export class WorkingQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  /** What encrypts them, where that is somebody's own. */
  readonly encryptionKey: IKey | undefined;

  /** @throws InvalidProps */
  constructor(
    scope: Construct,
    id: string,
    { visibility, name, holdsTasks = false, maxReceives = MAX_RECEIVES, ...props }: WorkingQueueProps,
  ) {
    super(scope, id);
    this.encryptionKey = props.encryptionKey;
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

/** A queue that no function works off. Kept with the tables. @param why it has no dead-letter queue, for cdk-nag */
const finalQueue = (scope: Construct, props: DataProps, name: string, why: string): Queue => {
  const queue = new Queue(scope, 'Queue', {
    ...secure(scope, props, name),
    ...kept(isKept(scope, props.removalPolicy)),
  });
  acknowledge(queue, 'AwsSolutions-SQS3', why);
  return queue;
};

/** Where refused messages lie with their reasons, until a person has them sent again, or deletes them. Kept with the tables. */
export class RejectedQueue extends Construct {
  readonly queue: Queue;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: DataProps = {}) {
    super(scope, id);
    this.queue = finalQueue(
      this,
      props,
      'rejected',
      'Its messages have already been refused, with reasons, and no function works them off: one that cannot be sent again when a person asks for it stays.',
    );
  }
}

/** Where events lie that no destination took for three days, until a person has them sent again, or deletes them. */
export class GivenUpQueue extends Construct {
  readonly queue: Queue;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: DataProps = {}) {
    super(scope, id);
    this.queue = finalQueue(
      this,
      props,
      'given-up',
      'Its messages have been tried for days, and no function works them off: one that cannot be sent again when a person asks for it stays.',
    );
  }
}
