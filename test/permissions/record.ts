/**
 * The record of a test run: what each function used in all test processes. A later test compares it with the
 * template's grants. The folder is in `GROUPAGE_PERMISSIONS`; without it nothing is recorded.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AwsClients } from '../../src/aws/clients.ts';
import { EVENT_SOURCES } from '../../tools/local/stack.ts';
import type { FunctionUse } from './compare.ts';
import { recording } from './recorder.ts';

/** The uses that this process has written, each once. */
const written = new Set<string>();
/** One file for each process, so that no two write to the same file. */
const FILE = `${process.pid}-${crypto.randomUUID()}.jsonl`;

/** Records the uses of a function's clients, if this run keeps a record. */
export const recorded = (
  clients: AwsClients,
  functionName: string,
  folder = process.env.GROUPAGE_PERMISSIONS,
): AwsClients => {
  // The pollers stand for Lambda's event sources, whose permissions are Lambda's.
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

/** All recorded uses in a folder, each once. */
export const usesIn = (folder: string): FunctionUse[] => {
  if (!existsSync(folder)) return [];
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return [...new Set(lines.filter((line) => line !== ''))].map((line) => JSON.parse(line) as FunctionUse);
};
