/** Where the parts of a local stack are. */
import type { WorkerSettings, WorkingQueueName } from '../doctor/settings.ts';

/** Where everything is; `.groupage/local.json` holds it. */
export interface Addresses {
  /** Where it has one. */
  readonly console?: string;
  readonly api: string;
  readonly dynamodb: string;
  readonly sqs: string;
  readonly queues: Readonly<
    Record<'register' | 'elect' | 'group' | 'batch' | 'rejected', string> & {
      /** Where the configuration has destinations. */
      readonly callback?: string;
      readonly 'given-up'?: string;
    }
  >;
  readonly tables: Readonly<Record<'task' | 'batchLock' | 'batch' | 'fanOut' | 'list' | 'fleet', string>>;
  /** The functions, by the queue that each works off, as the template has them. */
  readonly workers: Readonly<Partial<Record<WorkingQueueName, WorkerSettings>>>;
}
