/** The queues: those that work flows through, each with a dead-letter queue, and one for refused messages. */
import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { MAX_RECEIVES } from '../src/batching/timings.ts';

/** As long as SQS can: a message must outlast any outage. */
const RETENTION = Duration.days(14);
const SECURE: QueueProps = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: RETENTION };

/** A queue outlives its stack, but for one that could not be created. */
const kept = (retain: boolean): Pick<QueueProps, 'removalPolicy'> =>
  retain ? { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE } : {};

export interface WorkingQueueProps {
  /** After this an undeleted message is delivered again. */
  readonly visibility: Duration;
  /**
   * Whether it outlives its stack, with its dead letters: where a message may be all that there is of a task.
   * @default false
   */
  readonly retain?: boolean;
}

/** A queue that a λ works off; the sweep sends its dead letters again. */
export class WorkingQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { visibility, retain = false }: WorkingQueueProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', { ...SECURE, ...kept(retain) });
    this.queue = new Queue(this, 'Queue', {
      ...SECURE,
      ...kept(retain),
      visibilityTimeout: visibility,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
  }
}

/** Where refused messages lie with their reasons, until a person has them sent again, or deletes them. */
export class RejectedQueue extends Construct {
  readonly queue: Queue;

  /** @param retain whether it outlives its stack. */
  constructor(scope: Construct, id: string, { retain }: { readonly retain: boolean }) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', { ...SECURE, ...kept(retain) });
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'Its messages have already been refused, with reasons, and no function works them off: one that cannot be sent again when a person asks for it stays.',
    });
  }
}
