/** The tables (design, section 4). Their keys are part of the stored data: changing one replaces a table. */
import { ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { FleetTable } from './fleet-table.ts';
import { number, sharedTableProps, string } from './table-props.ts';

export interface TablesProps {
  /**
   * Whether the tables outlive their stack, protected from deletion; and, in `Groupage`, the queues of unregistered tasks.
   * @default true
   */
  readonly retain?: boolean;
}

export class Tables extends Construct {
  readonly task: Table;
  readonly batchLock: Table;
  readonly batch: Table;
  readonly fanOut: Table;
  readonly list: Table;
  readonly fleet: FleetTable;

  constructor(scope: Construct, id: string, { retain = true }: TablesProps = {}) {
    super(scope, id);
    const shared = sharedTableProps(retain);

    this.task = new Table(this, 'Task', { ...shared, partitionKey: string('Id') });
    // Sparse: failed rows alone have a FailedTarget, so finding those that need a person costs the others nothing.
    this.task.addGlobalSecondaryIndex({
      indexName: 'FailedByTarget',
      partitionKey: string('FailedTarget'),
      sortKey: number('FinishedAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.batchLock = new Table(this, 'BatchLock', {
      ...shared,
      partitionKey: string('Target'),
      sortKey: string('Entry'),
    });
    // Sparse: lock rows alone have an Operation.
    this.batchLock.addGlobalSecondaryIndex({
      indexName: 'Targets',
      partitionKey: string('Operation'),
      sortKey: string('Target'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.batch = new Table(this, 'Batch', { ...shared, partitionKey: string('BatchId') });
    this.batch.addGlobalSecondaryIndex({
      indexName: 'ByTarget',
      partitionKey: string('Target'),
      sortKey: number('SealedAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.fanOut = new Table(this, 'FanOut', { ...shared, partitionKey: string('Id') });
    // Sparse: headers alone have a CheckAt, until their rows are gone. Its partitions share the headers between them.
    this.fanOut.addGlobalSecondaryIndex({
      indexName: 'ByCheckAt',
      partitionKey: string('Patrol'),
      sortKey: number('CheckAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    // No index: a list's header is a row of the fan-outs' table, and everything else of it is found from that one.
    this.list = new Table(this, 'List', { ...shared, partitionKey: string('Id'), sortKey: string('Entry') });

    this.fleet = new FleetTable(this, 'Fleet', { retain });
  }
}
