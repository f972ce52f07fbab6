/** What a stack says of an instance when it is deployed: where to send tasks, and by what the command line finds its API. */
import { CfnOutput, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { API_URL, REGISTER_QUEUE_URL, REJECTED_QUEUE_URL, SERVICE } from '../src/domain/deployed/environment.ts';
import type { Flow } from './flow.ts';

export interface FlowOutputsProps {
  readonly flow: Flow;
  /**
   * Begins their names, where a stack has several instances.
   * @default - nothing
   */
  readonly prefix?: string;
}

export class FlowOutputs extends Construct {
  constructor(scope: Construct, id: string, { flow, prefix = '' }: FlowOutputsProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const output = (name: string, value: string, description: string): void =>
      new CfnOutput(this, name, { value, description }).overrideLogicalId(`${prefix}${name}`);
    output(REGISTER_QUEUE_URL, flow.registerQueue.queue.queueUrl, 'Send register messages here');
    output(REJECTED_QUEUE_URL, flow.rejectedQueue.queue.queueUrl, 'Refused messages, with reasons');
    output(API_URL, flow.apiUrl.url, 'The HTTP API (AWS_IAM)');
    // What is called as its stack is needs none.
    if (flow.service !== stack.stackName) output(SERVICE, flow.service, 'What its metrics and events are of');
    this.node.addValidation({ validate: () => this.#taken() });
  }

  /** Before 0.2 people had to write the first of them, which then has the same name. */
  #taken(): string[] {
    const stack = Stack.of(this);
    const nameOf = (output: CfnOutput): string => String(stack.resolve(output.logicalId));
    const ours = new Set(this.node.children.flatMap((each) => (each instanceof CfnOutput ? [nameOf(each)] : [])));
    return stack.node
      .findAll()
      .flatMap((each) =>
        each instanceof CfnOutput && each.node.scope !== this && Stack.of(each) === stack && ours.has(nameOf(each))
          ? [`${each.node.path} is an output that Groupage makes too: remove it, or make Groupage with outputs: false`]
          : [],
      );
  }
}
