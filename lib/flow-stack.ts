/** What may be replaced by a deployment: queues, λs, the API. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Flow, type FlowProps } from './flow.ts';
import { FlowOutputs } from './outputs.ts';

export class FlowStack extends Stack {
  readonly flow: Flow;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & FlowProps) {
    super(scope, id, props);
    this.flow = new Flow(this, 'Flow', props);
    new FlowOutputs(this, 'Outputs', { flow: this.flow });
  }
}
