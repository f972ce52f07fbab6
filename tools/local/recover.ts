/**
 * After a local start, all leases and attempts of the previous run are void, because its process has ended. So clear
 * them, and resume every Target and batch at once instead of waiting for visibility timeouts.
 */
import { machine } from '../../lambdas/host.ts';
import type { AwsClients } from '../../src/aws/clients.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBBuckets } from '../../src/aws/dynamodb-buckets.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBOperations } from '../../src/aws/dynamodb-operations.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { voidAttempts, voidLeases } from '../../src/aws/recovery.ts';
import { sqsQueues } from '../../src/aws/sqs-queues.ts';
import { type Config, keepTasksIn, operationNamed } from '../../src/domain/config/resolved.ts';
import { type Environment, setting } from '../../src/domain/deployed/environment.ts';
import { type BatchId, type OperationName, operationOf, type Target } from '../../src/domain/ids.ts';
import type { LockView } from '../../src/ports/locks.ts';
import { lookAtTarget, repair } from '../../src/steps/repair/repair.ts';

export interface Recovered {
  /** Targets that got an elect message, and batches that got a batch message. */
  readonly targets: number;
  readonly batches: number;
  /** Targets with work whose operation is not configured. They wait until it is configured again. */
  readonly orphans: readonly Target[];
  /** Batches that have not ended, of operations that are not configured. They wait, too. */
  readonly orphanedBatches: readonly BatchId[];
}

export const recover = async (
  { dynamodb, sqs, clock }: AwsClients,
  settings: Environment,
  config: Config,
): Promise<Recovered> => {
  const queues = sqsQueues(sqs, { elect: setting(settings, 'electQueue'), batch: setting(settings, 'batchQueue') });
  const locks = dynamoDBLocks(dynamodb, setting(settings, 'batchLockTable'), keepTasksIn(config));
  const waiting = dynamoDBWaiting(dynamodb, setting(settings, 'batchLockTable'));
  const operations = dynamoDBOperations(dynamodb, setting(settings, 'batchLockTable'));
  const buckets = dynamoDBBuckets(dynamodb, setting(settings, 'batchLockTable'), clock);
  const stored = dynamoDBBatches(dynamodb, setting(settings, 'batchTable'));
  const deps = { config, locks, waiting, operations, buckets, batches: stored, queues, machine, report: () => {} };
  let elected = 0;
  const orphans: Target[] = [];
  for (const target of await voidLeases(dynamodb, setting(settings, 'batchLockTable'))) {
    if (operationNamed(config, operationOf(target))) {
      const finding = await lookAtTarget(deps, target, Date.now(), 0);
      const remedy = finding && (await repair(deps, finding));
      if (remedy === 'elect-message') elected += 1;
    } else if (hasWork(await locks.readEventually(target))) orphans.push(target);
  }
  const batches = await voidAttempts(dynamodb, setting(settings, 'batchTable'));
  const isKnown = (id: BatchId): boolean => operationNamed(config, operationOfBatch(id)) !== undefined;
  const due = batches.filter(isKnown);
  // A message for a batch of an unknown operation would only become a dead letter. The start after the operation is
  // configured again sends it.
  for (const batchId of due) await queues.batch({ kind: 'due', batchId }, 0);
  return { targets: elected, batches: due.length, orphans, orphanedBatches: batches.filter((id) => !isKnown(id)) };
};

const hasWork = ({ lock, first }: LockView): boolean => first !== undefined || lock.openBatch !== undefined;

/** The operation of a batch. The id of a batch without grouping values continues with a `#`. */
export const operationOfBatch = (id: BatchId): OperationName => operationOf(id.split('#', 1)[0] as BatchId);
