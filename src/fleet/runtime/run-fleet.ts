/**
 * Shares partitions with all that call this for the same fleet, through one table and with nobody in charge. See
 * docs/fleet.md.
 */
import { hostname } from 'node:os';
import { setTimeout as setTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { FleetEvent } from '../events.ts';
import type { NodeKey } from '../ids.ts';
import type { Setting } from '../member.ts';
import { fleetsAt } from './at.ts';
import type { ThreadData, ToHeartbeats, ToWorkers } from './messages.ts';
import { checkedOptions, type FleetOptions } from './options.ts';
import { monotonic, Shared } from './shared.ts';
import { Workers } from './workers.ts';

export type { FleetEvent } from '../events.ts';
export { type FleetOptions, InvalidFleetOptions } from './options.ts';
export { CheckpointTooLarge, type Partition, PartitionDraining, PartitionLost } from './partition.ts';

/** How often the thread that works shows that it is not blocked, and looks whether its deadline has passed. */
const TICK = 250;

/** The thread of the heartbeats has ended, or could not begin: nothing can be worked on without it. */
export class HeartbeatsStopped extends Error {
  override readonly name = 'HeartbeatsStopped';
}

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
  const { onPartition, onEvent = tellTrouble, signal, stopOn = ['SIGTERM', 'SIGINT'] } = options;
  const { at, id, fleet, shares, cycle, maxBlocked, drainTimeout } = checkedOptions({
    ...options,
    node: options.node ?? usualName(),
  });
  const fleets = fleetsAt(at);
  // What is wrong with the table, its name or the permissions shows before anything begins.
  await fleets.read(fleet).catch((cause: unknown) => {
    throw new FleetTableUnreadable(at.table, cause);
  });

  const shared = new Shared();
  shared.showLife();
  const setting: Setting = { fleet, shares, cycle, maxBlocked, leaveWithin: drainTimeout + 2 * cycle };
  const thread = new Worker(new URL('./heartbeat-thread.ts', import.meta.url), {
    workerData: { at, id, setting, shared: shared.buffer } satisfies ThreadData,
  });
  const ask = (message: ToHeartbeats): void => thread.postMessage(message);
  const over = Promise.withResolvers<void>();
  // What a listener of events throws is its own, and must not end what was begun half-way.
  const tell = (event: FleetEvent): void => {
    try {
      onEvent(event);
    } catch (cause) {
      over.reject(cause);
    }
  };
  /** Of the node's keys. */
  const lives = new Map<NodeKey, number>();
  let later = Promise.withResolvers<void>();
  const workers = new Workers({
    clock: { now: monotonic, sleep: async (span) => setTimeout(span, undefined, { ref: false }) },
    onPartition,
    deadline: ({ owner }) => shared.deadlineOf(lives.get(owner) ?? 0),
    nextDeadline: () => later.promise,
    checkpoint: (held, text) => fleets.checkpoint(fleet, held, text),
    drained: (held) => ask({ do: 'drained', held }),
    report: (event, { owner }) => tell({ ...event, fleet, node: owner }),
  });
  const hear = (message: ToWorkers): void => {
    switch (message.do) {
      case 'begin':
        lives.set(message.held.owner, message.life);
        workers.begin(message.held, message.checkpoint);
        break;
      case 'drain':
        workers.drain(message.held);
        break;
      case 'drop':
        workers.drop(message.held, message.reason);
        break;
      case 'go-on':
        later.resolve();
        later = Promise.withResolvers();
        break;
      case 'tell':
        tell(message.event);
        break;
      case 'over':
        over.resolve();
        break;
    }
  };
  thread.on('message', hear);
  thread.on('error', (cause) => over.reject(new HeartbeatsStopped('the thread of the heartbeats failed', { cause })));
  thread.on('exit', (code) => over.reject(new HeartbeatsStopped(`the thread of the heartbeats ended with ${code}`)));

  const ticking = setInterval(() => {
    shared.showLife();
    workers.suspendLate();
  }, TICK);
  const leave = (): void => {
    ask({ do: 'leave' });
    setTimer(() => workers.giveUp(), drainTimeout).unref();
  };
  const stopping = stopWith(signal, stopOn, leave);
  try {
    await over.promise;
  } finally {
    stopping.forget();
    workers.dropAll();
    clearInterval(ticking);
    await thread.terminate();
  }
};

/** Calls `leave`, once: when the signal aborts, or the process is told to stop. Told a second time, it ends at once. */
const stopWith = (signal: AbortSignal | undefined, stopOn: readonly NodeJS.Signals[], leave: () => void) => {
  const forget = (): void => {
    signal?.removeEventListener('abort', stop);
    for (const name of stopOn) process.off(name, stop);
  };
  const stop = (): void => {
    forget();
    leave();
  };
  if (signal?.aborted) stop();
  else {
    signal?.addEventListener('abort', stop);
    for (const name of stopOn) process.on(name, stop);
  }
  return { forget };
};

const tellTrouble = (event: FleetEvent): void => {
  if (TROUBLE.has(event.event)) console.error(JSON.stringify(event, withCauses));
};

const TROUBLE: ReadonlySet<FleetEvent['event']> = new Set(['evicted', 'work-failed', 'store-failed', 'blocked']);

/** Anything can be thrown, also what no JSON can be made of. */
const withCauses = (name: string, value: unknown): unknown => {
  if (value instanceof Error) return value.stack ?? String(value);
  return name === 'cause' && typeof value !== 'string' ? inspect(value) : value;
};
