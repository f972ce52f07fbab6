/** A node of a fleet, which works on each partition in a process of a user's program. Loaded only by its command. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { nodeIdOf } from '../../../src/domain/fleets/ids.ts';
import {
  type FleetEvent,
  type FleetOptions,
  FleetTableUnreadable,
  HeartbeatsStopped,
  InvalidFleetOptions,
  NodeNameTaken,
  type Partition,
  PartitionLost,
  runFleet,
  type TableAt,
} from '../../../src/fleet/run-fleet.ts';
import { reportTrouble } from '../../../src/fleet/trouble.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { regionOf } from '../../account/region.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { LOCAL_REGION } from '../../local/clients.ts';
import { printable } from '../../terminal.ts';
import { localStack } from '../shared/connect.ts';
import { killAll, type ProcessOptions, WorkerEnded, WorkerProcess } from './process.ts';
import { stopOnSignals, unlessStopped } from './stopping.ts';

/** How long a process may go on after its partition was lost, in ms. Another node may work on the partition. */
const LOST_WITHIN = 10_000;

/**
 * The table of this name, in the region of the environment; without a name, the local stack's table.
 * @throws CommandFailure
 */
const tableOf = async (table: string | undefined): Promise<TableAt> => {
  if (table !== undefined) return { table, region: await regionOf(process.env, new DynamoDBClient({}).config.region) };
  const { tables, dynamodb } = localStack();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { table: tables.fleet, endpoint: dynamodb, region: LOCAL_REGION, credentials };
};

/**
 * Runs until a signal stops it.
 * @throws CommandFailure
 */
export const workInFleet = async (
  program: ProcessOptions,
  options: Omit<FleetOptions, 'table' | 'onPartition' | 'onEvent' | 'signal' | 'stopOn'> & {
    readonly table: string | undefined;
  },
): Promise<void> => {
  const table = await tableOf(options.table);
  const { node = '', restartWithin = 0 } = options;
  const signal = stopOnSignals(
    restartWithin > 0
      ? `running work ends, and the partitions wait ${restartWithin / 1_000} s for the next process named ${node}`
      : 'partitions are handed over',
  );
  // A program that cannot start fails here, before it gets a partition. The process works on the first partition.
  let spare = await unlessStopped(signal, () => WorkerProcess.start(program, signal));
  const take = async (stop: AbortSignal): Promise<WorkerProcess | undefined> => {
    const taken = spare;
    spare = undefined;
    return taken?.isLiving ? taken : unlessStopped(stop, () => WorkerProcess.start(program, stop));
  };
  const onPartition = async (partition: Partition): Promise<void> => {
    const worker = await take(partition.signal);
    if (worker) await workOn(worker, options.fleet, partition);
  };
  try {
    await runFleet({ ...options, table, onPartition, onEvent: report, signal, stopOn: [] });
    await spare?.close();
  } catch (cause) {
    throw inWords(cause);
  } finally {
    killAll();
  }
};

const inWords = (cause: unknown): unknown => {
  if (cause instanceof InvalidFleetOptions) return new WrongUsage(cause.problems.join('\n'));
  return cause instanceof FleetTableUnreadable || cause instanceof NodeNameTaken || cause instanceof HeartbeatsStopped
    ? new CommandFailure(reasonOf(cause), { cause })
    : cause;
};

/**
 * Works on a partition until the process exits.
 * @throws WorkerEnded unless it exits with status 0; CheckpointTooLarge
 */
const workOn = async (worker: WorkerProcess, fleet: string, partition: Partition): Promise<void> => {
  const { id, fence, from = null, signal, lost } = partition;
  const onLost = (): void => worker.stop('lost', LOST_WITHIN);
  // `lost` aborts before `signal`, so `onLost` has asked the process already. A loss during a drain shortens its time.
  const onDraining = (): void => {
    if (!lost.aborted) worker.stop('draining');
  };
  const end = new AbortController();
  signal.addEventListener('abort', onDraining, { signal: end.signal });
  lost.addEventListener('abort', onLost, { signal: end.signal });
  try {
    worker.send({ type: 'partition', fleet, partition: id, fence, checkpoint: from });
    if (lost.aborted) onLost();
    else if (signal.aborted) onDraining();
    for (;;) await serve(worker, partition);
  } catch (cause) {
    if (!(cause instanceof WorkerEnded && cause.isClean)) throw cause;
  } finally {
    end.abort();
    worker.kill('was killed, because its checkpoint was not stored');
  }
};

/** Takes the next message of the process, a checkpoint. */
const serve = async (worker: WorkerProcess, partition: Partition): Promise<void> => {
  const message = await worker.next();
  if (message.type !== 'checkpoint') return worker.breach(`sent ${message.type} during partition ${partition.id}`);
  try {
    await partition.checkpoint(message.value);
    worker.send({ type: 'stored' });
  } catch (cause) {
    // The partition's signal has aborted too, so the process is asked to stop and gets time for that.
    if (!(cause instanceof PartitionLost)) throw cause;
  }
};

/** The texts of `reportTrouble` are for programs that call `runFleet`, so these events have texts for users. */
const report = (event: FleetEvent): void => {
  const text = textOf(event);
  if (text === undefined) reportTrouble(event);
  else console.error(printable(text));
};

const textOf = (event: FleetEvent): string | undefined => {
  switch (event.event) {
    case 'joined':
      return `${event.node} has joined the fleet ${event.fleet}`;
    case 'left':
      return `${event.node} has stopped`;
    case 'restarting':
      return `the partitions of ${event.node} wait ${event.within / 1_000} s for the next process with its name, then other nodes get them`;
    case 'evicted-another':
      return `${nodeIdOf(event.other)} counts as dead: its partitions go to other nodes`;
    case 'acquired':
      return `partition ${event.partition}: acquired`;
    case 'handed-over':
      return `partition ${event.partition}: handed over${event.to === undefined ? '' : ` to ${event.to}`}`;
    case 'dropped':
      return `partition ${event.partition}: lost (${event.reason})`;
    case 'work-failed':
      return `partition ${event.partition}: ${reasonOf(event.cause)}. If this node keeps the partition, a process works on it again in ${Math.round(event.pause / 1_000)} s, from the last checkpoint`;
    case 'finished':
      return `partition ${event.partition}: the worker process has exited by itself (--when-finished ${event.whenFinished})`;
    default:
      return undefined;
  }
};
