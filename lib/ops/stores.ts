/** The tables and indexes that the alarms and the dashboard watch. */
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { INDEXES } from '../../src/domain/deployed/environment.ts';
import type { Tables } from '../tables.ts';

/** A table, or one of its global secondary indexes. */
export interface Store {
  /** The name of the table in Groupage, or the name of the index. */
  readonly name: string;
  readonly table: Table;
  /** Whether this is an index of the table. */
  readonly isIndex: boolean;
}

export const storesOf = ({ task, batchLock, batch, fanOut, list, fleet }: Tables): readonly Store[] => {
  const table = (name: string, of: Table): Store => ({ name, table: of, isIndex: false });
  const index = (name: string, of: Table): Store => ({ name, table: of, isIndex: true });
  return [
    table('task', task),
    index(INDEXES.taskTable, task),
    table('batchLock', batchLock),
    index(INDEXES.batchLockTable, batchLock),
    table('batch', batch),
    index(INDEXES.batchTable, batch),
    table('fanOut', fanOut),
    index(INDEXES.fanOutTable, fanOut),
    table('list', list),
    table('fleet', fleet.table),
  ];
};

/** A metric of a table without its indexes, or of an index alone. */
export const metricOf = ({ name, table, isIndex }: Store, metric: string, options: MetricOptions): Metric =>
  table.metric(metric, {
    ...options,
    ...(isIndex ? { dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: name } } : {}),
  });
