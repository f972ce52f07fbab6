/** Mutants of the adapters: DynamoDB, and the downstreams and destinations. */
import { type Mutant, mutantsOf } from './mutant.ts';

export const ADAPTERS: readonly Mutant[] = [
  ...mutantsOf(
    'src/aws/call-time.ts',
    ['test/lambdas/call-time.test.ts'],
    ['if (limit === Number.POSITIVE_INFINITY) return', 'if (limit > 0) return'],
    ['abortSignal: asked ? AbortSignal.any([asked, over]) : over', 'abortSignal: asked'],
    ['AbortSignal.any([asked, over])', 'over'],
  ),
  ...mutantsOf(
    'src/aws/rounds.ts',
    ['test/lambdas/call-time.test.ts'],
    [' || span >= callTime(Number.POSITIVE_INFINITY)', ''],
  ),
  ...mutantsOf(
    'src/aws/redrive-tasks.ts',
    ['test/aws/cut-calls.test.ts'],
    [
      '  await limit.map(apart, (task) => keepPayload(client, table, task));\n  const begun = await limit.map(failed, (task) => startRun(client, table, task, at));',
      '  const begun = await limit.map(failed, (task) => startRun(client, table, task, at));\n  await limit.map(apart, (task) => keepPayload(client, table, task));',
    ],
    ['FinishedAt, ExpiresAt, FailedTarget', 'FinishedAt, FailedTarget'],
  ),
  ...mutantsOf(
    'src/aws/redrive-tasks.ts',
    ['test/ports/redrive.test.ts'],
    ['#status = :failed AND #run = :run', '#status = :failed AND #run >= :run'],
    ['FailedTarget, StartBy, #error', 'FailedTarget, #error'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-tasks.ts',
    [
      'test/aws/cut-calls.test.ts',
      'test/ports/tasks.test.ts',
      'test/ports/members.test.ts',
      'test/ports/redrive.test.ts',
    ],
    ['payloadRow && (answers[index] || refused.get(id)?.BatchId === batch.id)', 'payloadRow && answers[index]'],
    ["if (hasLeft(task, batch.id)) return 'failed';", ''],
    ['(refused.get(id)?.BatchId === batch && refused.get(id)?.Run === run)', 'refused.get(id)?.BatchId === batch'],
  ),
  ...mutantsOf(
    'src/aws/settle-tasks.ts',
    ['test/aws/cut-calls.test.ts', 'test/ports/settle.test.ts'],
    ['stored.payloadApart && isSettledIn(task.run, stored)', 'stored.payloadApart && written[index]'],
    ['AND "Status"=\'created\' AND "Run"=?', 'AND "Status"=\'created\' AND "Run">=?'],
  ),
  ...mutantsOf(
    'src/aws/payloads.ts',
    ['test/ports/payloads.test.ts', 'test/ports/redrive.test.ts'],
    ['OR CreatedAt < :at)', 'OR attribute_exists(CreatedAt))'],
    ['WHERE "Id"=? AND "Run"<=?', 'WHERE "Id"=? AND "Run">=?'],
    ["'#run <= :run'", "'#run >= :run'"],
    ['SET #run = :next REMOVE ExpiresAt', 'SET #run = :next'],
  ),
  ...mutantsOf(
    'src/aws/payloads.ts',
    ['test/aws/expired-payloads.test.ts'],
    ['attribute_not_exists(CreatedAt) OR ', ''],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-fan-outs.ts',
    ['test/aws/expiry.test.ts'],
    ['SET ExpiresAt = :expires REMOVE CheckAt', 'SET ExpiresIn = :expires REMOVE CheckAt'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-fan-outs.ts',
    ['test/ports/fan-outs.test.ts'],
    ['size(Fails) <= :most', 'size(Fails) < :most'],
  ),
  ...mutantsOf('src/rows/fan-out-rows.ts', ['test/aws/expiry.test.ts'], ['  ExpiresAt: expiresAt(expires, 0),', '']),
  ...mutantsOf('src/aws/dynamodb-processed.ts', ['test/aws/expiry.test.ts'], ['  ExpiresAt: expiresAt(at, keep),', '']),
  ...mutantsOf(
    'src/aws/dynamodb-processed.ts',
    ['test/ports/processed.test.ts'],
    ['key !== undefined && (row.Until as number) > now', 'key !== undefined'],
  ),
  ...mutantsOf('src/util/at-once.ts', ['test/client/not-all-sent.test.ts'], ['    if (failure) return [];\n', '']),
  ...mutantsOf(
    'src/client/send-tasks.ts',
    ['test/client/not-all-sent.test.ts'],
    ["outcomes[index]?.is !== 'sent'", "outcomes[index]?.is === 'unsent'"],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-batches.ts',
    ['test/ports/batches.test.ts'],
    ['RunUntil < :at', 'RunUntil <= :at'],
    ['Attempt = :before AND (', 'Attempt <= :before AND ('],
    ["const remove = ['StartedBy', ...gone.map(([name]) => name)];", "const remove = ['StartedBy'];"],
    ['StartedAt = if_not_exists(StartedAt, :at)', 'StartedAt = :at'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-batches.ts',
    ['test/aws/expiry.test.ts'],
    [
      "FinishedAt = :at, Counts = :counts, ExpiresAt = :expires'",
      "FinishedAt = :at, Counts = :counts, ExpiresIn = :expires'",
    ],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-locks.ts',
    ['test/ports/locks.test.ts'],
    ['LockedUntil < :now)', 'LockedUntil <= :now)'],
    [
      "unchanged.when}`,\n        values: { ...mine(holder), ...unchanged.values, ':at'",
      "MINE}`,\n        values: { ...mine(holder), ':at'",
    ],
    ['Paused.Id <> :id', 'Paused.Id = :id'],
    ['AND attribute_not_exists(LockHolder) AND attribute_not_exists(Blocked)`', 'AND attribute_not_exists(Blocked)`'],
  ),
  ...mutantsOf(
    'src/domain/downstream/aws-failure.ts',
    ['test/downstream/aws-failure.test.ts'],
    ['status === 0 || status >= 500', 'status >= 500'],
    ['pause * 1_000', 'pause'],
    ['$metadata?.httpStatusCode === 429 || THROTTLED', 'THROTTLED'],
    ['message.slice(0, 200)', 'message'],
    ['|KMS(?!Throttl).*|Kms(?!Throttl).*)', '|KMS.*)'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-batches.ts',
    ['test/ports/batches.test.ts'],
    [' OR HeldBy = :after', ''],
    ['HeldSpan < :span', 'HeldSpan <= :span'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-fleets.ts',
    ['test/aws/fleet-expiry.test.ts'],
    ["':expires': expiryOf(beatAt + ahead()),", "':expires': expiryOf(beatAt),"],
  ),
  ...mutantsOf(
    'src/aws/list-clearing.ts',
    ['test/aws/list-clearing.test.ts'],
    ['return first + areGone.indexOf(false);', 'return first;'],
    ['if (isSettled) await removeRows', 'await removeRows'],
  ),
  ...mutantsOf(
    'src/aws/fleet-checkpoints.ts',
    ['test/ports/fleet-checkpoints.test.ts'],
    ['attribute_not_exists(Fence) OR Fence < :fence', 'attribute_not_exists(Fence) OR Fence <= :fence'],
    ['row.Fence === fence ? openedOf(row) : undefined', 'openedOf(row)'],
  ),
  ...mutantsOf(
    'src/aws/dynamodb-fleets.ts',
    ['test/ports/fleet-checkpoints.test.ts'],
    [
      '`Fence = :fence AND (attribute_not_exists(CheckpointNo)',
      '`attribute_exists(Fence) AND :fence = :fence AND (attribute_not_exists(CheckpointNo)',
    ],
  ),
];
