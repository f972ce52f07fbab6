/**
 * Writes the code of a release as one module: its steps, and its stores in memory and on DynamoDB. Schedules and engine
 * tests run it beside today's code, as a deployment does for some minutes. Run it against a checkout of the release:
 *
 *     node scripts/run.mjs test/upgrades/write-code.ts ../groupage-0.2.0 0.2.0
 */
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { packCode } from './former-code.ts';

const [release = '', version = ''] = process.argv.slice(2);
if (!release || !version) throw new Error('usage: write-code.ts CHECKOUT VERSION');

/** What the module exports, by the file that has it. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  'batching/register': ['registerAll'],
  'batching/elect-leader': ['electLeader'],
  'batching/group': ['group'],
  'batching/handle-batch': ['handleBatch'],
  'batching/sweep': ['sweep'],
  'batching/messages': ['parseBatch', 'parseElect', 'parseGroup', 'printBatch', 'printElect', 'printGroup'],
  'simulation/memory-batches': ['memoryBatches'],
  'simulation/memory-fan-outs': ['memoryFanOuts'],
  'simulation/memory-lists': ['memoryLists'],
  'simulation/memory-locks': ['memoryLocks'],
  'simulation/memory-operations': ['memoryOperations'],
  'simulation/memory-processed': ['memoryProcessed'],
  'simulation/memory-tasks': ['memoryTasks'],
  'simulation/memory-waiting': ['memoryWaiting'],
  'aws/dynamodb-batches': ['dynamoDBBatches'],
  'aws/dynamodb-fan-outs': ['dynamoDBFanOuts'],
  'aws/dynamodb-lists': ['dynamoDBLists'],
  'aws/dynamodb-locks': ['dynamoDBLocks'],
  'aws/dynamodb-operations': ['dynamoDBOperations'],
  'aws/dynamodb-processed': ['dynamoDBProcessed'],
  'aws/dynamodb-tasks': ['dynamoDBTasks'],
  'aws/dynamodb-waiting': ['dynamoDBPatrolMarks', 'dynamoDBWaiting'],
};

const contents = Object.entries(EXPORTS)
  .map(([file, names]) => `export { ${names.join(', ')} } from './src/${file}.ts';`)
  .join('\n');
const {
  outputFiles: [code],
} = await build({
  stdin: { contents, resolveDir: resolve(release) },
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@aws-sdk/*'],
});
if (!code) throw new Error('esbuild wrote no module');
packCode(version, code.text);
