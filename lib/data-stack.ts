/** What must outlive a deployment: the tables. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { DataProps } from './surroundings.ts';
import { Tables } from './tables.ts';

export class DataStack extends Stack {
  readonly tables: Tables;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: StackProps & DataProps) {
    super(scope, id, props);
    this.tables = new Tables(this, 'Tables', props);
  }
}
