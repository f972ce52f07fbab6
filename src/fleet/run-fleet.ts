/**
 * Shares partitions with all that call this for the same fleet, through one table and with nobody in charge. See
 * docs/explanation/fleets.md.
 *
 * @module groupage/fleet
 */
import { hostname } from 'node:os';
import { inspect } from 'node:util';
import type { FleetEvent } from '../domain/fleets/events.ts';
import type { Millis } from '../domain/ids.ts';
import type { Setting } from './member.ts';
import { checkedOptions, type FleetOptions } from './options.ts';
import { fleetsAt } from './table-at.ts';
import { Threads } from './threads.ts';

export type { DropReason, FleetEvent } from '../domain/fleets/events.ts';
export type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
export type { Millis } from '../domain/ids.ts';
export { type FleetOptions, InvalidFleetOptions } from './options.ts';
export { CheckpointTooLarge, type LostReason, type Partition, PartitionDraining, PartitionLost } from './partition.ts';
export type { TableAt } from './table-at.ts';
export { HeartbeatsStopped } from './threads.ts';

/** Its name, the endpoint, the region or the permissions are not right: `cause` is what DynamoDB said. */
export class FleetTableUnreadable extends Error {
  override readonly name = 'FleetTableUnreadable';
  readonly table: string;
  constructor(table: string, cause: unknown) {
    super(
      `the table ${table} of the fleet cannot be read: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : cause}`,
      { cause },
    );
    this.table = table;
  }
}

/** A host's name, as far as a node may be called so. */
const usualName = (): string =>
  `${hostname().replaceAll(/[^A-Za-z0-9._:-]/g, '-')}-${process.pid}`.slice(-64).replace(/^[^A-Za-z0-9]+/, '');

/**
 * Works on a fair share of the partitions until its `signal` aborts, or the process is told to stop; then gives all away.
 * Resolves when that is done, or `drainTimeout` is over.
 *
 * Costs a write unit and a read of the fleet's rows each cycle, and a write for each partition that moves.
 *
 * @throws InvalidFleetOptions; FleetTableUnreadable; HeartbeatsStopped; what `onEvent` throws, and all ends at once then
 */
export const runFleet = async (options: FleetOptions): Promise<void> => {
  const { onPartition, onEvent = reportTrouble, signal, stopOn = ['SIGTERM', 'SIGINT'] } = options;
  const { at, id, fleet, shares, cycle, maxBlocked, drainTimeout } = checkedOptions({
    ...options,
    node: options.node ?? usualName(),
  });
  const fleets = fleetsAt(at);
  // What is wrong with the table, its name or the permissions shows before anything begins.
  await fleets.read(fleet).catch((cause: unknown) => {
    throw new FleetTableUnreadable(at.table, cause);
  });

  if (signal?.aborted) return;
  const setting: Setting = { fleet, shares, cycle, maxBlocked, leaveWithin: drainTimeout + 2 * cycle };
  const threads = new Threads({ at, id, setting }, { fleets, onPartition, onEvent });
  const stopping = stopWith(signal, stopOn, () => threads.leave(drainTimeout));
  try {
    await threads.over;
  } finally {
    stopping.forget();
    await threads.stop();
  }
};

/** Who starts a process may pass a signal on that it was sent as well: npm, `timeout`. Within that they are one. */
const TOGETHER: Millis = 1_000;

/** Calls `leave`, once: when the signal aborts, or the process is told to stop. Told so again later, it ends at once. */
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

const reportTrouble = (event: FleetEvent): void => {
  if (TROUBLE.has(event.event)) console.error(JSON.stringify(event, withCauses));
};

const TROUBLE: ReadonlySet<FleetEvent['event']> = new Set(['evicted', 'work-failed', 'store-failed', 'blocked']);

/** Anything can be thrown, also what no JSON can be made of. */
const withCauses = (name: string, value: unknown): unknown => {
  if (value instanceof Error) return value.stack ?? String(value);
  return name === 'cause' && typeof value !== 'string' ? inspect(value) : value;
};
