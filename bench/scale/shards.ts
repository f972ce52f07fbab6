/**
 * The throughput of one Target by its number of shards. For some seconds more tasks arrive than the Target can take,
 * then none.
 */
import { perSecond, steady, tryOut } from './trial.ts';

export interface ShardsTried {
  readonly shards: number;
  /** The number of tasks a second that were sent, and the number that were called, until all tasks had ended. */
  readonly offered: number;
  readonly taken: number;
  readonly throttled: number;
}

/** The number of tasks a second that are sent for each shard. A shard can take about 490. */
const OFFERED = 800;

export const tryShards = async (shards: number, seconds: number): Promise<ShardsTried> => {
  const offered = OFFERED * shards;
  const tried = await tryOut({
    operations: { ship: { shards } },
    arrivals: steady({ rate: offered, seconds }),
  });
  return {
    shards,
    offered,
    taken: perSecond(tried),
    throttled: tried.partitions.throttled,
  };
};
