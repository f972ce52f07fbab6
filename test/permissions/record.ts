/**
 * The record of a test run: what each function used, from all test processes, for a later one to hold against what the
 * template grants. It is kept in the folder that `GROUPAGE_PERMISSIONS` names; without that nothing is recorded.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AwsClients } from '../../src/aws/clients.ts';
import { EVENT_SOURCES } from '../../tools/local/stack.ts';
import type { FunctionUse } from './compare.ts';
import { recording } from './recorder.ts';

/** What this process has written: each use once, however often it happens. */
const written = new Set<string>();
/** One file a process, so that no two write into one. */
const FILE = `${process.pid}-${crypto.randomUUID()}.jsonl`;

/** Records what a function's clients use, if this run keeps a record. */
export const recorded = (
  clients: AwsClients,
  functionName: string,
  folder = process.env.GROUPAGE_PERMISSIONS,
): AwsClients => {
  // What polls queues in Lambda's place is no function, and its permissions are Lambda's.
  if (!folder || functionName === EVENT_SOURCES) return clients;
  mkdirSync(folder, { recursive: true });
  return recording(clients, ({ action, resource }) => {
    const line = `${JSON.stringify({ functionName, action, resource })}\n`;
    const entry = `${folder} ${line}`;
    if (written.has(entry)) return;
    written.add(entry);
    appendFileSync(join(folder, FILE), line);
  });
};

/** Everything that was recorded in a folder, each use once. */
export const usesIn = (folder: string): FunctionUse[] => {
  if (!existsSync(folder)) return [];
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return [...new Set(lines.filter((line) => line !== ''))].map((line) => JSON.parse(line) as FunctionUse);
};
