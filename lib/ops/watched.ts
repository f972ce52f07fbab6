/** What the graphs of the dashboard are of. */
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { Flow } from '../flow.ts';
import type { MeasuredIn } from './measured.ts';

export interface Watched {
  readonly config: Config;
  /** Those operations that the dashboard has room for. */
  readonly operations: readonly Operation[];
  readonly flow: Flow;
  readonly tables: Readonly<Record<string, Table>>;
  readonly measured: MeasuredIn;
}
