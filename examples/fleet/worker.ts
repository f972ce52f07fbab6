/** A worker: keeps the delays of each origin in the partitions that it owns. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Partition, runFleet } from '../../src/fleet/run-fleet.ts';
import type { TableAt } from '../../src/fleet/table-at.ts';
import { count, type Delays, PARTITIONS, partitionOf, readFlights } from './flights.ts';

export interface WorkerSetting {
  readonly name: string;
  readonly table: TableAt;
  readonly cycle: number;
  /** The folder in which workers store states. It replaces a bucket that all workers can read. */
  readonly states: string;
  readonly flights: number;
  /** The time at which the replay starts. If absent, a message brings this time later. */
  readonly startsAt?: number;
  /** The length of the replay, in ms. */
  readonly span: number;
}

/** A checkpoint: the position in the stream, and the file with the state at that position. */
export interface Place {
  readonly position: number;
  readonly file: string;
}

/** Maximum number of flights in a unit of work, and the pause between two units in ms. */
const [UNIT, REST] = [50, 200] as const;

const setting = JSON.parse(process.argv[2] ?? '{}') as WorkerSetting;
const { name, table, cycle, states, span } = setting;
let { startsAt = Number.POSITIVE_INFINITY } = setting;
process.on('message', (message: { readonly startsAt: number }) => {
  startsAt = message.startsAt;
});
const streams = Map.groupBy(readFlights(setting.flights), partitionOf);

const restore = async (checkpoint: string | undefined): Promise<{ place: Place | undefined; delays: Delays }> => {
  if (checkpoint === undefined) return { place: undefined, delays: {} };
  const place = JSON.parse(checkpoint) as Place;
  return { place, delays: JSON.parse(await readFile(join(states, place.file), 'utf8')) };
};

/**
 * Writes the state to a file with a new name. The file is valid after a checkpoint has named it. A worker that has lost
 * the partition may still write a file, but its checkpoint is refused, so that file is never read.
 */
const keep = async (partition: Partition, position: number, delays: Delays, before?: Place): Promise<Place> => {
  const place = { position, file: `${partition.id}-${position}-${partition.fence}.json` };
  await writeFile(join(states, place.file), JSON.stringify(delays));
  await partition.checkpoint(JSON.stringify(place));
  if (before) await rm(join(states, before.file), { force: true });
  return place;
};

const onPartition = async (partition: Partition): Promise<void> => {
  const { id, signal, from } = partition;
  const stream = streams.get(id) ?? [];
  let { place, delays } = await restore(from);
  while (!signal.aborted && (place?.position ?? 0) < stream.length) {
    partition.assertOwned();
    const reached = (Date.now() - startsAt) / span;
    const position = place?.position ?? 0;
    const due = stream.slice(position, position + UNIT).filter(({ after }) => after <= reached);
    if (due.length > 0) {
      count(delays, due);
      process.send?.({ counted: due.length });
      place = await keep(partition, position + due.length, delays, place);
    }
    await setTimeout(REST);
  }
};

const orphaned = (): never => process.exit(1);
// The parent process has ended, so end this process too.
process.on('disconnect', orphaned);
await runFleet({
  ...{ fleet: 'flights', table, node: name, partitions: PARTITIONS, cycle, onPartition },
  // This time must be shorter than the platform's kill timeout.
  drainTimeout: 5_000,
  onEvent: (event) => process.send?.({ event, at: Date.now() }),
});
process.off('disconnect', orphaned);
process.disconnect();
