/** What must outlive a deployment: the tables. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Tables, type TablesProps } from './tables.ts';

export class DataStack extends Stack {
  readonly tables: Tables;

  constructor(scope: Construct, id: string, { retain, ...props }: StackProps & TablesProps) {
    super(scope, id, props);
    this.tables = new Tables(this, 'Tables', retain === undefined ? {} : { retain });
  }
}
