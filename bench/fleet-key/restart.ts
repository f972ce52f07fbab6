/** A rolling restart of a fleet, and the load on the busiest key of its table. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import { charged } from '../../src/processes/units.ts';
import { START } from '../../src/virtual/trace.ts';
import { type Hottest, Partitions } from '../../verification/batches/partitions.ts';
import { UNIT } from '../../verification/fleets/kind.ts';
import { runFleetScenario } from '../../verification/fleets/schedule.ts';
import { fleetScenario, type Timing } from '../fleet/scenarios.ts';
import { fleetPrices } from './prices.ts';

const MINUTE: Millis = 60_000;
/** Three nodes are replaced one after another, 90 seconds apart, beginning three minutes after the start. */
const TIMING: Timing = { measureFrom: 2 * MINUTE, incidentAt: 3 * MINUTE, overloaded: 0, endsAt: 9 * MINUTE };
const NODES = 3;
/** No limits, so that requests are counted even if DynamoDB would throttle them. */
const NO_LIMITS = { write: 1e9, read: 1e9 } as const;

export interface Restart {
  /** The most read units within a second. All reads of the fleet use the fleet's key. */
  readonly reads: Hottest;
  readonly writes: Hottest;
  /** The read units of one read of the fleet while nothing changes. */
  readonly look: number;
  readonly moved: number;
  readonly violations: readonly string[];
}

/**
 * @param bytes the size of each checkpoint
 * @param apart whether checkpoints have rows of their own
 */
export const restart = async (partitions: number, bytes: number, apart: boolean): Promise<Restart> => {
  const scenario = fleetScenario('deployment, old first', NODES, 1, TIMING);
  const keys = new Partitions(NO_LIMITS);
  let look = 0;
  const meter = (fleets: Fleets, now: () => Millis): Fleets =>
    charged(fleets, fleetPrices(bytes), (spent) => {
      // Before the measurement the fleet starts, and each partition is taken for the first time.
      if (now() < START + scenario.measureFrom) return undefined;
      for (const { read } of spent) if (read !== undefined) look = read;
      keys.spend(spent, now());
      return undefined;
    });
  const separatesAt = apart ? {} : { separatesAt: Number.MAX_SAFE_INTEGER };
  const { moved, violations } = await runFleetScenario(
    { ...scenario, ...separatesAt, partitions },
    { unit: UNIT, meter },
  );
  return { reads: keys.busiest('reads'), writes: keys.busiest('writes'), look, moved, violations };
};
