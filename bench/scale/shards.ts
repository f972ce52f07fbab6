/** What one Target takes, by its shards: more comes than it can take, for some seconds, and then nothing. */
import { perSecond, steady, tryOut } from './trial.ts';

export interface ShardsTried {
  readonly shards: number;
  /** Tasks a second that came, and that came downstream until all were done. */
  readonly offered: number;
  readonly taken: number;
  /** Write units a second of the shard that got most. */
  readonly hottest: number;
  readonly throttled: number;
}

/** Tasks a second for each shard, which takes some 490. */
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
