/**
 * A worker process. It does small units of work on each of its partitions and logs them. When it receives a message, it
 * blocks its main thread.
 */
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Partition, PartitionLost, runFleet } from '../../src/fleet/run-fleet.ts';
import type { TableAt } from '../../src/fleet/table-at.ts';
import { type Entry, monotonic, writeEntry } from './log.ts';

export interface WorkerSetting {
  readonly name: string;
  readonly fleet: string;
  readonly table: TableAt;
  readonly partitions: number;
  readonly cycle: number;
  readonly maxBlocked: number;
  readonly restartWithin?: number;
  readonly folder: string;
}

/** The duration of a unit and the pause between two units, in milliseconds, and the number of units per checkpoint. */
export const [UNIT, REST, UNITS_TO_CHECKPOINT] = [50, 150, 5] as const;

const setting = JSON.parse(process.argv[2] ?? '{}') as WorkerSetting;
const file = openSync(join(setting.folder, `${setting.name}#${process.pid}.jsonl`), 'a');
const log = (entry: Entry): void => writeEntry(file, entry);

const isOwned = (partition: Partition): boolean => {
  try {
    partition.assertOwned();
    return true;
  } catch (cause) {
    if (cause instanceof PartitionLost) return false;
    throw cause;
  }
};

/** A worker that has lost the partition still tries to store a checkpoint, to test that the table refuses it. */
const store = async (partition: Partition, value: number): Promise<void> => {
  const { id: p, fence } = partition;
  const from = monotonic();
  const outcome = await partition.checkpoint(String(value)).then(
    () => 'accepted' as const,
    (cause: unknown) => (cause instanceof PartitionLost ? ('refused' as const) : ('unknown' as const)),
  );
  log({ is: 'checkpoint', from, at: monotonic(), p, fence, value, outcome });
};

const onPartition = async (partition: Partition): Promise<void> => {
  const { id: p, fence, signal } = partition;
  let value = Number(partition.from ?? 0);
  log({ is: 'call', at: monotonic(), p, fence, from: value });
  // A random delay, because otherwise all partitions would begin at the same time.
  await setTimeout(Math.random() * REST);
  for (;;) {
    const at = monotonic();
    if (signal.aborted || !isOwned(partition)) break;
    log({ is: 'begin', at, p, fence });
    await setTimeout(UNIT);
    log({ is: 'end', at: monotonic(), p, fence });
    value += 1;
    if (value % UNITS_TO_CHECKPOINT === 0) await store(partition, value);
    await setTimeout(REST);
  }
  await store(partition, value);
};

/** Blocks the main thread: nothing else runs in this thread meanwhile. */
const block = (span: number): void => {
  const until = monotonic() + span;
  while (monotonic() < until);
};

process.on('message', (message: { readonly block: number }) => block(message.block));
const orphaned = (): never => process.exit(1);
// The parent process has ended.
process.on('disconnect', orphaned);

const { name, fleet, table, partitions, cycle, maxBlocked, restartWithin = 0 } = setting;
await runFleet({
  ...{ fleet, table, partitions, cycle, maxBlocked, restartWithin, node: name, onPartition },
  onEvent: (event) =>
    log({
      is: 'event',
      at: monotonic(),
      event: 'cause' in event ? { ...event, cause: String(event.cause) } : event,
    }),
});
process.off('disconnect', orphaned);
process.disconnect();
