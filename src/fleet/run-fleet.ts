/**
 * Shares partitions among all processes that run the same fleet. They coordinate through one DynamoDB table, without a
 * leader. See docs/explanation/fleets.md.
 *
 * @module groupage/fleet
 */
import '../node/supported.ts';
import { hostname } from 'node:os';
import { noticeFor } from '../domain/fleets/timings.ts';
import type { Millis } from '../domain/ids.ts';
import type { Setting } from './member.ts';
import { checkedOptions, type FleetOptions } from './options.ts';
import { fleetsAt } from './table-at.ts';
import { Threads } from './threads.ts';
import { reportTrouble } from './trouble.ts';

export type { DropReason, FleetEvent, WhenFinished } from '../domain/fleets/events.ts';
export type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
export type { Millis } from '../domain/ids.ts';
export { NodeNameTaken, type Rival } from './belonging.ts';
export { type FleetOptions, InvalidFleetOptions } from './options.ts';
export { CheckpointTooLarge, type LostReason, type Partition, PartitionDraining, PartitionLost } from './partition.ts';
export type { TableAt } from './table-at.ts';
export { HeartbeatsStopped } from './threads.ts';

/**
 * The table cannot be read: its name, the endpoint, the region or the permissions are wrong. `cause` is DynamoDB's
 * error.
 */
export class FleetTableUnreadable extends Error {
  override readonly name = 'FleetTableUnreadable';
  readonly table: string;
  constructor(table: string, cause: unknown) {
    super(
      `cannot read the fleet's table ${table} (check its name, the region, the endpoint and the permissions): ${cause instanceof Error ? `${cause.name}: ${cause.message}` : cause}`,
      { cause },
    );
    this.table = table;
  }
}

/** The default name of a node: host name and process id, reduced to the characters that a node id may have. */
const usualName = (): string =>
  `${hostname().replaceAll(/[^A-Za-z0-9._:-]/g, '-')}-${process.pid}`.slice(-64).replace(/^[^A-Za-z0-9]+/, '');

/**
 * Works on a fair share of the partitions until `signal` aborts or the process gets a signal of `stopOn`. Then
 * `runFleet` hands all partitions over, or keeps them for the next process with this node's name (`restartWithin`). It
 * resolves when that is done, or when `drainTimeout` and two more cycles are over.
 *
 * Each cycle costs one write unit and a read of the fleet's rows. Each partition that moves costs a few writes.
 *
 * @throws InvalidFleetOptions; FleetTableUnreadable; NodeNameTaken; HeartbeatsStopped; or an error that `onEvent`
 * throws, which ends everything at once
 */
export const runFleet = async (options: FleetOptions): Promise<void> => {
  const { onPartition, onEvent = reportTrouble, signal, stopOn = ['SIGTERM', 'SIGINT'] } = options;
  const checked = checkedOptions(options, usualName);
  const { at, id, fleet, shares, cycle, maxBlocked, drainTimeout, restartWithin, whenFinished, measures } = checked;
  const fleets = fleetsAt(at);
  // A wrong table name or missing permissions fail here, before any work begins.
  await fleets.read(fleet).catch((cause: unknown) => {
    throw new FleetTableUnreadable(at.table, cause);
  });

  if (signal?.aborted) return;
  const setting: Setting = {
    ...{ fleet, shares, cycle, maxBlocked, restartWithin },
    notice: noticeFor(cycle, drainTimeout),
    leaveWithin: drainTimeout + 2 * cycle,
  };
  const threads = new Threads({ at, id, setting, measures }, { fleets, onPartition, onEvent, whenFinished });
  const stopping = stopWith(signal, stopOn, () => threads.leave(drainTimeout));
  try {
    await threads.over;
  } finally {
    stopping.forget();
    await threads.stop();
  }
};

/**
 * Signals that arrive within this time count as one signal, in milliseconds. A parent process (npm, `timeout`) may pass
 * on a signal that this process has received already.
 */
const TOGETHER: Millis = 1_000;

/** Calls `leave` once, when the signal aborts or the process gets a signal. A later signal ends the process at once. */
const stopWith = (signal: AbortSignal | undefined, stopOn: readonly NodeJS.Signals[], leave: () => void) => {
  let forgetting: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(forgetting);
    signal?.removeEventListener('abort', stop);
    for (const name of stopOn) process.off(name, stop);
  };
  const stop = (): void => {
    if (forgetting) return;
    forgetting = setTimeout(forget, TOGETHER).unref();
    leave();
  };
  signal?.addEventListener('abort', stop);
  for (const name of stopOn) process.on(name, stop);
  return { forget };
};
