/**
 * The outputs of a stack for an instance. They show where to send tasks, and the command line finds the API through
 * them.
 */
import { CfnOutput, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { API_URL, REGISTER_QUEUE_URL, REJECTED_QUEUE_URL, SERVICE } from '../src/domain/deployed/environment.ts';
import type { Flow } from './flow.ts';

export interface FlowOutputsProps {
  readonly flow: Flow;
  /**
   * Prefix of the outputs' names, if a stack has several instances.
   * @default - none
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
    output(REJECTED_QUEUE_URL, flow.rejectedQueue.queue.queueUrl, 'Rejected messages, with reasons');
    output(API_URL, flow.api.url, 'The HTTP API (AWS_IAM)');
    // An instance that has the name of its stack needs no output for its name.
    if (flow.service !== stack.stackName) output(SERVICE, flow.service, 'Name of this instance in metrics and events');
    this.node.addValidation({ validate: () => this.#taken() });
  }

  /**
   * Refuses outputs with the same names. Apps written for a version before 0.2 had to declare the first of these
   * outputs themselves.
   */
  #taken(): string[] {
    const stack = Stack.of(this);
    const nameOf = (output: CfnOutput): string => String(stack.resolve(output.logicalId));
    const ours = new Set(this.node.children.flatMap((each) => (each instanceof CfnOutput ? [nameOf(each)] : [])));
    return stack.node
      .findAll()
      .flatMap((each) =>
        each instanceof CfnOutput && each.node.scope !== this && Stack.of(each) === stack && ours.has(nameOf(each))
          ? [
              `${each.node.path} is an output that Groupage makes too: remove it, or create Groupage with outputs: false`,
            ]
          : [],
      );
  }
}
