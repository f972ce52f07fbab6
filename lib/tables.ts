/**
 * The tables (docs/explanation/algorithm.md lists their rows). Their key schemas are part of the stored data: changing
 * one replaces a table.
 */
import { ProjectionType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { INDEXES, UNDER_WAY, UNDER_WAY_PROJECTION } from '../src/domain/deployed/environment.ts';
import { FleetTable } from './fleet-table.ts';
import { physicalName } from './names.ts';
import type { DataProps } from './surroundings.ts';
import { number, sharedTableProps, string } from './table-props.ts';

export class Tables extends Construct {
  readonly task: Table;
  readonly batchLock: Table;
  readonly batch: Table;
  readonly fanOut: Table;
  readonly list: Table;
  readonly fleet: FleetTable;
  readonly audit: Table;

  constructor(scope: Construct, id: string, props: DataProps = {}) {
    super(scope, id);
    const shared = (name: string) => ({ ...sharedTableProps(this, props), ...this.#named(props, name) });

    this.task = new Table(this, 'Task', { ...shared('task'), partitionKey: string('Id') });
    // A sparse index: only failed tasks have a `FailedTarget`, so for other tasks the index costs nothing.
    this.task.addGlobalSecondaryIndex({
      indexName: INDEXES.taskTable,
      partitionKey: string('FailedTarget'),
      sortKey: number('FinishedAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.batchLock = new Table(this, 'BatchLock', {
      ...shared('batch-lock'),
      partitionKey: string('Target'),
      sortKey: string('Entry'),
    });
    // A sparse index: only lock rows have an `Operation`.
    this.batchLock.addGlobalSecondaryIndex({
      indexName: INDEXES.batchLockTable,
      partitionKey: string('Operation'),
      sortKey: string('Target'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.batch = new Table(this, 'Batch', { ...shared('batch'), partitionKey: string('BatchId') });
    this.batch.addGlobalSecondaryIndex({
      indexName: INDEXES.batchTable,
      partitionKey: string('Target'),
      sortKey: number('SealedAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    // A sparse index: a batch that ends in its first attempt has no `UnderWay`.
    this.batch.addGlobalSecondaryIndex({
      indexName: UNDER_WAY,
      partitionKey: string('UnderWay'),
      sortKey: number('OldestAt'),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...UNDER_WAY_PROJECTION],
    });

    this.fanOut = new Table(this, 'FanOut', { ...shared('fan-out'), partitionKey: string('Id') });
    // A sparse index: only header rows of fan-outs have a `CheckAt`, until the other rows of the fan-out are deleted.
    // The header rows are spread over the partitions of the index.
    this.fanOut.addGlobalSecondaryIndex({
      indexName: INDEXES.fanOutTable,
      partitionKey: string('Patrol'),
      sortKey: number('CheckAt'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    // The table of lists needs no index: the header row of a list is in the table of fan-outs, and the keys of all its
    // other rows follow from the header row.
    this.list = new Table(this, 'List', { ...shared('list'), partitionKey: string('Id'), sortKey: string('Entry') });

    this.fleet = new FleetTable(this, 'Fleet', { ...props, ...this.#named(props, 'fleet') });

    this.audit = new Table(this, 'Audit', {
      ...shared('audit'),
      partitionKey: string('Month'),
      sortKey: string('Entry'),
    });
  }

  #named({ prefix }: DataProps, table: string): { readonly tableName?: string } {
    const tableName = physicalName(this, prefix, table);
    return tableName === undefined ? {} : { tableName };
  }
}
