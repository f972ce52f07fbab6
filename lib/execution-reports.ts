/** Tells the batch queue how executions ended that Groupage started, so that no state machine has to be changed for it. */
import { Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { executionPrefix, type StateMachineTarget } from '../src/config/endpoints.ts';
import { stateMachineArn } from './endpoints.ts';

export interface ExecutionReportsProps {
  readonly queue: IQueue;
  /** State machines by the operations that start them. */
  readonly machines: readonly (readonly [operation: string, target: StateMachineTarget])[];
}

/** A rule for each operation: exactly its state machine, and of that the executions that are named after it. */
export class ExecutionReports extends Construct {
  constructor(scope: Construct, id: string, { queue, machines }: ExecutionReportsProps) {
    super(scope, id);
    const rules = machines.map(
      ([operation, { stateMachine }]) =>
        new Rule(this, operation, {
          description: `Executions for ${operation} have ended`,
          eventPattern: {
            source: ['aws.states'],
            detailType: ['Step Functions Execution Status Change'],
            detail: {
              stateMachineArn: [stateMachineArn(unqualified(stateMachine))],
              name: [{ prefix: executionPrefix(operation) }],
              status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'],
            },
          },
          targets: [{ bind: () => ({ arn: queue.queueArn }) }],
        }),
    );
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

/** Events name the state machine alone, and not the version or alias by which it was started. */
const unqualified = (stateMachine: string): string =>
  stateMachine.startsWith('arn:') ? stateMachine.split(':').slice(0, 7).join(':') : stateMachine;
