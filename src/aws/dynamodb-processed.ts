/** Processed keys in DynamoDB. Each Target that merges has a second partition in the BatchLock table for these keys. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expiresAt } from '../domain/expiry.ts';
import { digest, type Target } from '../domain/ids.ts';
import type { InputKey } from '../domain/merging/inputs.ts';
import type { Known } from '../domain/merging/merge.ts';
import type { ProcessedKey, ProcessedKeys } from '../ports/processed.ts';
import type { Item } from '../rows/item.ts';
import { ageIn } from '../rows/lock-rows.ts';
import { readable, versionOf } from '../rows/row-version.ts';
import { getAll, writeAll } from './dynamodb.ts';

export const dynamoDBProcessed = (client: DynamoDBDocumentClient, table: string): ProcessedKeys => ({
  known: async (target, keys, now) => {
    const byEntry = new Map(keys.map((key) => [entryOf(key), key]));
    const rows = await getAll(
      client,
      table,
      [...byEntry.keys()].map((entry) => rowKey(target, entry)),
      { only: ['Target', 'Entry', 'Marks', 'SentAt', 'TaskVersion', 'Until', 'Version'] },
    );
    return new Map(
      rows.flatMap((stored) => {
        const row = readable('processed key', stored);
        const key = byEntry.get(row.Entry as string);
        // Check the time here, because DynamoDB deletes expired rows with a delay.
        return key !== undefined && (row.Until as number) > now ? [[key, knownOf(row)] as const] : [];
      }),
    );
  },
  remember: (target, processed, at, keep) =>
    writeAll(
      client,
      table,
      processed.map((each) => ({ put: processedItem(target, each, at, keep) })),
    ),
});

/** `:` occurs in no operation's name, so this partition is never a Target's. */
const rowKey = (target: Target, entry: string): Item => ({ Target: `done:${target}`, Entry: entry });

const knownOf = (row: Item): Known => ({
  marks: row.Marks as Known['marks'],
  ...(row.SentAt === undefined ? {} : { age: ageIn(row) }),
});

const processedItem = (target: Target, { key, marks, age }: ProcessedKey, at: number, keep: number): Item => ({
  ...rowKey(target, entryOf(key)),
  Marks: [...marks],
  ...(age === undefined ? {} : { SentAt: age.sentAt }),
  ...(age?.version === undefined ? {} : { TaskVersion: age.version }),
  Until: at + keep,
  ExpiresAt: expiresAt(at, keep),
  Version: versionOf('processed key'),
});

/**
 * Maximum length of a key that is stored unchanged, so that it is easy to find. For a longer key, a hash is stored,
 * because the key may exceed the limit of DynamoDB.
 */
const ENTRY_MAX = 128;

const entryOf = (key: InputKey): string => (key.length <= ENTRY_MAX ? `key#${key}` : `hash#${digest(key)}`);
