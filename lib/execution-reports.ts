/**
 * When an execution that Groupage started ends, EventBridge reports this to the batch queue. So no state machine must
 * be changed.
 */
import { Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { executionPrefix, type StateMachineTarget } from '../src/domain/config/endpoints.ts';
import { letEventsUse } from './encryption.ts';
import { stateMachineArn } from './endpoints.ts';

export interface ExecutionReportsProps {
  readonly queue: IQueue;
  /** State machines by the operations that start them. */
  readonly machines: readonly (readonly [operation: string, target: StateMachineTarget])[];
  /** Prefix of the names of this instance's executions. May be empty. */
  readonly tag: string;
  /** The customer's key that encrypts the queue, if any. */
  readonly encryptionKey: IKey | undefined;
}

/**
 * EventBridge rules, one for each operation. A rule matches the operation's state machine, and only executions that are
 * named after the operation.
 */
export class ExecutionReports extends Construct {
  constructor(scope: Construct, id: string, { queue, machines, tag, encryptionKey }: ExecutionReportsProps) {
    super(scope, id);
    const rules = machines.map(
      ([operation, { stateMachine }]) =>
        new Rule(this, operation, {
          description: `An execution for ${operation} has ended`,
          eventPattern: {
            source: ['aws.states'],
            detailType: ['Step Functions Execution Status Change'],
            detail: {
              stateMachineArn: [stateMachineArn(unqualified(stateMachine))],
              name: [{ prefix: executionPrefix(operation, tag) }],
              status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'],
            },
          },
          targets: [{ bind: () => ({ arn: queue.queueArn }) }],
        }),
    );
    if (encryptionKey) letEventsUse(this, encryptionKey);
    queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': rules.map(({ ruleArn }) => ruleArn) } },
      }),
    );
  }
}

/**
 * The ARN without version or alias, because events contain it in this form even if an execution was started through a
 * version or alias.
 */
const unqualified = (stateMachine: string): string =>
  stateMachine.startsWith('arn:') ? stateMachine.split(':').slice(0, 7).join(':') : stateMachine;
