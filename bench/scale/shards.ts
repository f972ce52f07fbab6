/** Throughput of one Target by its shards: more tasks than it can take for some seconds, then none. */
import { perSecond, steady, tryOut } from './trial.ts';

export interface ShardsTried {
  readonly shards: number;
  /** Tasks a second that were sent, and that were called until all had ended. */
  readonly offered: number;
  readonly taken: number;
  /** Write units a second of the hottest shard. */
  readonly hottest: number;
  readonly throttled: number;
}

/** Tasks a second for each shard. A shard takes about 490. */
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
    hottest: (tried.partitions.hottest().units * 1_000) / tried.span,
    throttled: tried.partitions.throttled,
  };
};
