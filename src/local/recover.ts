/**
 * A local start owns everything: whoever held a lease or an attempt before is gone. So it voids them, and sees to
 * every Target and batch at once instead of waiting for visibility timeouts.
 */
import type { AwsClients } from '../aws/clients.ts';
import { dynamoDBLocks } from '../aws/dynamodb-locks.ts';
import { voidAttempts, voidLeases } from '../aws/recovery.ts';
import { sqsQueues } from '../aws/sqs-queues.ts';
import { operationOf } from '../batching/ids.ts';
import { repair } from '../batching/patrol.ts';
import type { Config } from '../config/resolved.ts';
import { operationNamed } from '../config/resolved.ts';
import { type Environment, setting } from '../environment.ts';

/** @returns how many Targets were given a leader and how many batches a handler. */
export const recover = async (
  { dynamodb, sqs }: AwsClients,
  settings: Environment,
  config: Config,
): Promise<{ targets: number; batches: number }> => {
  const queues = sqsQueues(sqs, { elect: setting(settings, 'electQueue'), batch: setting(settings, 'batchQueue') });
  const locks = dynamoDBLocks(dynamodb, setting(settings, 'batchLockTable'), () => 0);
  let elected = 0;
  const report = (): void => {
    elected += 1;
  };
  const targets = await voidLeases(dynamodb, setting(settings, 'batchLockTable'));
  for (const target of targets)
    if (operationNamed(config, operationOf(target))) await repair({ locks, queues, machine: Date, report }, target, 0);
  const batches = await voidAttempts(dynamodb, setting(settings, 'batchTable'));
  for (const batchId of batches) await queues.batch({ batchId }, 0);
  return { targets: elected, batches: batches.length };
};
