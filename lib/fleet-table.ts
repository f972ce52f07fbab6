/** The table that fleets share their partitions through, with Groupage or without. */
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { grantKey } from './encryption.ts';
import type { DataProps } from './surroundings.ts';
import { sharedTableProps, string } from './table-props.ts';

export interface FleetTableProps extends Pick<DataProps, 'encryptionKey' | 'removalPolicy'> {
  /**
   * Its name, of which there can be one in an account and region.
   * @default - CloudFormation makes it
   */
  readonly tableName?: string;
}

/**
 * A table for any number of fleets: what `runFleet` wants as its `table`. Nothing else of Groupage is needed.
 *
 * ```ts
 * const fleets = new FleetTable(this, 'Fleet');
 * fleets.grantWork(workerTask.taskRole);
 * workerTask.defaultContainer?.addEnvironment('FLEET_TABLE', fleets.table.tableName);
 * ```
 *
 * Its key is part of the stored data: changing it replaces the table.
 */
export class FleetTable extends Construct {
  readonly table: Table;
  readonly #key: IKey | undefined;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: FleetTableProps = {}) {
    super(scope, id);
    const { encryptionKey, tableName } = props;
    this.#key = encryptionKey;
    this.table = new Table(this, 'Table', {
      ...sharedTableProps(this, props),
      ...(tableName === undefined ? {} : { tableName }),
      partitionKey: string('Fleet'),
      sortKey: string('Entry'),
    });
  }

  /** Lets a worker take part in the fleets of this table, and do no more: it can't see what other tables there are. */
  grantWork(worker: IGrantable): Grant {
    return this.#grant(worker, ['Query', 'PutItem', 'UpdateItem', 'DeleteItem']);
  }

  /** Lets somebody look at the fleets of this table, drain nodes and move partitions. */
  grantOperate(operator: IGrantable): Grant {
    return this.#grant(operator, ['Query', 'UpdateItem']);
  }

  #grant(grantee: IGrantable, actions: readonly string[]): Grant {
    const grant = Grant.addToPrincipal({
      grantee,
      actions: actions.map((action) => `dynamodb:${action}`),
      resourceArns: [this.table.tableArn],
    });
    return this.#key ? grant.combine(grantKey(this.#key, grantee, 'dynamodb', 'writeTable')) : grant;
  }
}
