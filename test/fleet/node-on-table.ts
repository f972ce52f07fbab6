/** For the tests of `runFleet`: an engine with the table of fleets, and nodes that use the table. */
import { afterAll, beforeAll } from 'vitest';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { type FleetEvent, type FleetOptions, runFleet } from '../../src/fleet/run-fleet.ts';
import type { TableAt } from '../../src/fleet/table-at.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { type DynamoDBEngine, startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';
import { partition } from '../factories/fleets.ts';

export let engine: DynamoDBEngine;
export let table: TableAt;
let fleets = 0;
/** Starts the engine before the tests of a file, and stops it after them. */
export const useTable = (): void => {
  beforeAll(async () => {
    engine = await startDynamoDB({ port: 0 });
    table = await makeFleetTable(engine.endpoint, 'Fleet');
  });
  afterAll(() => engine?.stop());
};

export const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', resolve, { once: true });
  });

/** A node in a fleet of its own, unless a fleet is given. Its work waits until its signal aborts. */
export const start = (options: Partial<FleetOptions> = {}) => {
  const events: FleetEvent[] = [];
  const stop = new AbortController();
  fleets += 1;
  const fleet = (options.fleet ?? `fleet-${fleets}`) as FleetName;
  const done = runFleet({
    fleet,
    table,
    partitions: 2,
    node: `node-${fleets}`,
    // Six cycles allow for delays on a busy machine.
    cycle: 400,
    stopOn: [],
    signal: stop.signal,
    onPartition: async ({ signal }) => void (await untilAborted(signal)),
    onEvent: (event) => events.push(event),
    ...options,
  });
  // The test that awaits `done` handles the rejection later.
  done.catch(() => {});
  const rows = () => fleetsAt(options.table === undefined ? table : (options.table as TableAt)).read(fleet);
  const owned = async (): Promise<number> => (await rows()).leases.filter(({ owner }) => owner !== undefined).length;
  const reported = (name: FleetEvent['event']) => events.filter(({ event }) => event === name);
  const checkpointOf = (id: string) => fleetsAt(table).checkpointOf(fleet, partition(id));
  return { fleet, done, stop: () => stop.abort(), events, reported, rows, owned, checkpointOf };
};

export const rejection = async (promise: Promise<unknown>): Promise<Error> => {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'fulfilled') throw new Error('the promise did not fail');
  return outcome.reason;
};
