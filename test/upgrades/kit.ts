/** This release on a copy of the data that an earlier release left, a minute after its kill. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { eventually } from '../end-to-end/flow.ts';
import { type ReceivedCall, startTestDownstream } from '../factories/downstream.ts';
import { type UpgradeOperation, upgradeConfig } from './config.ts';
import { type Expected, unpack } from './fixture.ts';
import { type Running, startRelease } from './release.ts';

export const TODAY = join(import.meta.dirname, '../..');
const MINUTE = 60_000;

export interface Upgraded {
  readonly left: Expected;
  readonly folder: string;
  /** The downstream's calls since then. */
  readonly calls: readonly ReceivedCall[];
  readonly running: Running;
  /** The time on the release's clock. */
  now(): number;
  /** Starts the release on its data, with all operations. */
  start(): Promise<void>;
  stop(): Promise<void>;
  task(id: string): Promise<Record<string, unknown>>;
  /** Waits until all tasks ended with the status. @returns the API's answer for each */
  ended(ids: readonly string[], status?: 'succeeded' | 'failed'): Promise<readonly Record<string, unknown>[]>;
  /** The batches of the calls that included a task. */
  batchesWith(id: string): readonly string[];
  flush(target: string): Promise<unknown>;
  setVersion(table: string, key: Record<string, string>, version: number): Promise<unknown>;
}

/** @param without an operation that is left out of the configuration at first. */
export const upgrade = async (release: string, without: UpgradeOperation): Promise<Upgraded> => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-upgrade-'));
  const { url, calls, ...downstream } = await startTestDownstream(({ operation }) =>
    operation === 'capped' ? { status: 202, body: { pending: true } } : { status: 200 },
  );
  const left = unpack(release, folder);
  const startedAt = Date.now();
  const now = (): number => left.writtenAt + MINUTE + (Date.now() - startedAt);
  const config = upgradeConfig(url);
  const { [without]: _, ...operations } = config.operations;
  const start = (configured: typeof config) => startRelease({ release: TODAY, folder, config: configured, now: now() });
  let running = await start({ ...config, operations });
  const find = async (id: string): Promise<Record<string, unknown> | undefined> => {
    const answer = await running.call(`/tasks/${id}`);
    return answer.ok ? ((await answer.json()) as Record<string, unknown>) : undefined;
  };
  const ended = (id: string, status: string) =>
    eventually(async () => {
      const found = await find(id);
      return found?.status === status ? found : undefined;
    });
  return {
    left,
    folder,
    calls,
    now,
    get running() {
      return running;
    },
    start: async () => {
      running = await start(config);
    },
    stop: async () => {
      await running.end('SIGTERM');
      await downstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    task: (id) => running.ask(`/tasks/${id}`),
    ended: (ids, status = 'succeeded') => Promise.all(ids.map((id) => ended(id, status))),
    batchesWith: (id) =>
      calls.filter(({ items }) => items.some((item) => item.id === id)).map(({ batchId }) => batchId),
    flush: (target) => running.ask('/targets/flush', { target }),
    setVersion: (TableName, Key, version) =>
      running.clients.dynamodb.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'SET Version = :version',
          ExpressionAttributeValues: { ':version': version },
        }),
      ),
  };
};
