/** The queues: four that work flows through, each with a dead-letter queue, and one for refused messages. */
import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { MAX_RECEIVES } from '../src/batching/timings.ts';

/** As long as SQS can: a message must outlast any outage. */
const RETENTION = Duration.days(14);
const SECURE: QueueProps = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: RETENTION };

export interface WorkingQueueProps {
  /** After this an undeleted message is delivered again. */
  readonly visibility: Duration;
}

/** A queue that a λ works off; the sweep sends its dead letters again. */
export class WorkingQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { visibility }: WorkingQueueProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', SECURE);
    this.queue = new Queue(this, 'Queue', {
      ...SECURE,
      visibilityTimeout: visibility,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
  }
}

/** Where refused register messages lie with their reasons, for people; nothing consumes it. */
export class RejectedQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', SECURE);
    Validations.of(this.queue).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'Its messages have already been refused, with reasons, and no function receives them: there is nothing to dead-letter.',
    });
  }
}
