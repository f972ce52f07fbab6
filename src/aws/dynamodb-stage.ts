/** The stage's decisions in DynamoDB: one row of the BatchLock table. */
import { type DynamoDBDocumentClient, ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { INDEXES } from '../domain/deployed/environment.ts';
import type { Stage } from '../ports/stage.ts';
import type { Item } from '../rows/item.ts';
import { STAGE_KEY, stageItem, stageModeOf } from '../rows/lock-rows.ts';
import { execute, getAll, insertion } from './dynamodb.ts';

export const dynamoDBStage = (client: DynamoDBDocumentClient, table: string): Stage => {
  const readMode: Stage['readMode'] = async () => {
    const [row] = await getAll(client, table, [STAGE_KEY]);
    return row && stageModeOf(row);
  };
  return {
    readMode,
    decideMode: async (mode) => {
      const [isWritten] = await execute(client, [insertion(table, stageItem(mode))]);
      // A refused statement means that another invocation decided first. A repeated statement may also be refused.
      return isWritten ? mode : ((await readMode()) ?? mode);
    },
    hasTargets: async () => {
      let from: Item | undefined;
      do {
        const page: ScanCommandOutput = await client.send(
          new ScanCommand({ TableName: table, IndexName: INDEXES.batchLockTable, Limit: 1, ExclusiveStartKey: from }),
        );
        if (page.Items?.length) return true;
        from = page.LastEvaluatedKey;
      } while (from);
      return false;
    },
  };
};
