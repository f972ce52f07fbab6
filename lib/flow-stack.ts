/** What may be replaced by a deployment: queues, λs, the API. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Flow, type FlowProps } from './flow.ts';

export class FlowStack extends Stack {
  readonly flow: Flow;

  constructor(scope: Construct, id: string, { config, tables, retain, code, ...props }: StackProps & FlowProps) {
    super(scope, id, props);
    this.flow = new Flow(this, 'Flow', {
      config,
      tables,
      ...(retain === undefined ? {} : { retain }),
      ...(code ? { code } : {}),
    });
    new CfnOutput(this, 'RegisterQueueUrl', {
      value: this.flow.registerQueue.queue.queueUrl,
      description: 'Send register messages here',
    });
    new CfnOutput(this, 'RejectedQueueUrl', {
      value: this.flow.rejectedQueue.queue.queueUrl,
      description: 'Refused messages, with reasons',
    });
    new CfnOutput(this, 'ApiUrl', { value: this.flow.apiUrl.url, description: 'The HTTP API (AWS_IAM)' });
  }
}
