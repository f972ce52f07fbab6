/**
 * `npm run bench:batch-rows` measures the cost of writing the row of a full batch in three layouts. Groupage uses the
 * first layout (docs/decisions/0017).
 */
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { BatchId, Candidate, Target } from '../src/domain/ids.ts';
import { newBatchRow } from '../src/rows/batch-rows.ts';
import type { Item } from '../src/rows/item.ts';
import { startTables } from './shared-rows/tables.ts';

const SIZE = 100;
const target = 'report-flights/origin=MUC' as Target;
const row = newBatchRow({
  id: `${target}#17#4` as BatchId,
  target,
  sealedBy: 'full',
  // Ids as tasks have if they are named after their SQS messages.
  candidates: Array.from({ length: SIZE }, () => `${crypto.randomUUID()}#1` as Candidate),
  oldestAt: 1_767_225_600_000,
  createdAt: 1_767_225_600_000,
});

interface Layout {
  readonly puts: readonly Item[];
  /** The attributes that only the sealing write sets. */
  readonly sealed: Item;
}
const { Candidates, ...head } = row;
const LAYOUTS: Readonly<Record<string, Layout>> = {
  'candidates, and who was dropped': { puts: [row], sealed: { Dropped: [] } },
  'candidates, and the members': { puts: [row], sealed: { Members: Candidates } },
  'candidates in a row of their own': {
    puts: [head, { BatchId: `${head.BatchId}#candidates`, Candidates }],
    sealed: { Dropped: [] },
  },
};

const tables = await startTables();
const set = async (fields: Item): Promise<void> => {
  const names = Object.keys(fields);
  await tables.client.send(
    new UpdateCommand({
      TableName: tables.batch,
      Key: { BatchId: head.BatchId },
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, fields[name]])),
    }),
  );
};
const now = Date.now();
console.log(
  '| layout | to form | to seal | to start | to finish | write units a batch | a task |\n|---|--:|--:|--:|--:|--:|--:|',
);
for (const [name, { puts, sealed }] of Object.entries(LAYOUTS)) {
  const phases = [
    async () => {
      for (const Item of puts) await tables.client.send(new PutCommand({ TableName: tables.batch, Item }));
    },
    () => set({ Status: 'sealed', SealedAt: now, ...sealed }),
    () =>
      set({
        Status: 'in-progress',
        Attempt: 1,
        Tries: 1,
        StartedBy: crypto.randomUUID(),
        RunUntil: now,
        StartedAt: now,
      }),
    () =>
      set({ Status: 'succeeded', Counts: { Succeeded: SIZE, Failed: 0 }, FinishedAt: now, ExpiresAt: 1_767_225_600 }),
  ];
  const units: number[] = [];
  for (const phase of phases) units.push((await tables.spending(phase)).write);
  const all = units.reduce((sum, each) => sum + each, 0);
  console.log(`| ${[name, ...units, all, (all / SIZE).toFixed(2)].join(' | ')} |`);
  // The rows are removed, so that the next layout begins with empty tables.
  for (const { BatchId } of puts) await tables.remove(BatchId);
}
await tables.stop();
