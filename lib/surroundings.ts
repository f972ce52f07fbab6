/** What an instance is deployed with, beside its configuration: the same for all of its parts. */
import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Architecture } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { HandlerName } from './handler-code.ts';
import { InvalidProps } from './invalid-props.ts';
import type { NetworkProps } from './network.ts';

/** Of whatever holds data. */
export interface DataProps {
  /**
   * A symmetric key of your own, for tables, queues with their dead letters, and log groups. It is paid by the month and by the
   * request, see docs/reference/construct.md.
   * @default - keys that AWS owns, at no cost
   */
  readonly encryptionKey?: IKey;
  /**
   * What becomes of the data when the stack is removed: with `RETAIN` the tables stay, protected from deletion, and so do
   * the queues whose messages may be all that there is of a task; with `DESTROY` nothing does. There are no others.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Begins the names of tables, queues and functions (`shop-task`, `shop-register`, `shop-batch-handler`), of which there
   * can be one of each in an account and region. A letter, then up to 39 letters, digits, `-` and `_`. Given to an
   * instance that is deployed, or changed there, it begins with empty tables and queues.
   * @default - CloudFormation makes the names
   */
  readonly prefix?: string;
}

export interface Surroundings extends DataProps, NetworkProps {
  /**
   * How long the functions' logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * Megabytes of memory, of those functions that should have other than 512: 128 to 10,240.
   * @default - 512 for each
   */
  readonly memorySizes?: Partial<Readonly<Record<HandlerName, number>>>;
  /**
   * What the functions run on. Their code is the same for both.
   * @default Architecture.ARM_64
   */
  readonly architecture?: Architecture;
}

/** Whether data outlives its stack. @throws InvalidProps */
export const isKept = (scope: IConstruct, removalPolicy = RemovalPolicy.RETAIN): boolean => {
  if (removalPolicy === RemovalPolicy.RETAIN) return true;
  if (removalPolicy === RemovalPolicy.DESTROY) return false;
  throw new InvalidProps(
    scope,
    `removalPolicy must be RemovalPolicy.RETAIN or RemovalPolicy.DESTROY, not ${removalPolicy}: what is retained over what differs between tables and queues, and is chosen for you`,
  );
};
