/** A node as `runFleet` composes it, with a simulated process in place of two threads. */

import type { LifeEvent } from '../../src/domain/fleets/events.ts';
import type { FleetName, NodeId, NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import { CYCLE, noticeFor } from '../../src/domain/fleets/timings.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { Belonging } from '../../src/fleet/belonging.ts';
import type { Setting, Work } from '../../src/fleet/member.ts';
import type { Partition } from '../../src/fleet/partition.ts';
import { Workers } from '../../src/fleet/workers.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';
import type { SimulatedProcess } from './process.ts';
import type { FleetScenario } from './scenario.ts';

export const FLEET = 'simulated' as FleetName;
const MAX_BLOCKED: Millis = 60_000;
export const DRAIN_TIMEOUT: Millis = 20_000;

export interface Around {
  readonly scenario: FleetScenario;
  readonly restartWithin: Millis;
  readonly process: SimulatedProcess;
  readonly fleets: Fleets;
  readonly onPartition: (partition: Partition) => Promise<void>;
  readonly onBegin: (held: Held, checkpoint: string | undefined) => void;
  readonly onCheckpoint: (held: Held, text: string) => void;
  readonly report: (event: LifeEvent) => void;
  /** Replacements that put a known bug back. */
  readonly changed: ((work: Work, drained: (held: Held) => void) => Partial<Work>) | undefined;
}

export interface RunningNode {
  readonly over: Promise<void>;
  /** Asks the node to leave, as SIGTERM does. */
  leave(): void;
  /** Ends the node's wait for its current work, as `drainTimeout` does. */
  giveUp(): void;
}

export const startNode = (around: Around): RunningNode => {
  const { process, fleets, report, changed, scenario, restartWithin } = around;
  let lives = 0;
  const drained = (held: Held): void => {
    void belonging.drained(held);
  };
  let me: NodeKey | undefined;
  const { work, workers } = workOf(around, drained, () => me);
  const belonging = new Belonging(
    {
      fleets,
      clock: process.clock,
      work: { ...work, ...changed?.(work, drained) },
      report,
      id: process.name as NodeId,
      epoch: () => {
        lives += 1;
        return `${process.prefix.slice(process.name.length + 1)}${lives}`;
      },
      onLife: (key) => {
        me = key;
      },
    },
    settingOf(scenario, restartWithin),
  );
  return { over: belonging.run(), leave: () => belonging.leave(), giveUp: () => workers.giveUp() };
};

const settingOf = ({ weights, partitions }: FleetScenario, restartWithin: Millis): Setting => ({
  fleet: FLEET,
  shares: Array.from({ length: partitions }, (_, index) => ({
    partition: `${index}` as PartitionId,
    weight: weights?.[index] ?? 1,
  })),
  cycle: CYCLE,
  maxBlocked: MAX_BLOCKED,
  restartWithin,
  notice: noticeFor(CYCLE, DRAIN_TIMEOUT),
  leaveWithin: DRAIN_TIMEOUT + 2 * CYCLE,
});

const workOf = (
  { process, fleets, onPartition, onBegin, onCheckpoint, report }: Around,
  drained: (held: Held) => void,
  me: () => NodeKey | undefined,
): { readonly work: Work; readonly workers: Workers } => {
  let deadline: Millis = 0;
  let later = Promise.withResolvers<void>();
  const workers = new Workers({
    clock: { now: () => process.now(), sleep: (span) => process.work(span) },
    onPartition,
    deadline: ({ owner }) => (owner === me() ? deadline : 0),
    nextDeadline: () => later.promise,
    checkpoint: async (held, text, count) => {
      const isStored = await fleets.checkpoint(FLEET, held, text, count);
      if (isStored) onCheckpoint(held, text);
      return isStored;
    },
    drained,
    whenFinished: 'keep',
    report,
  });
  const work: Work = {
    begin: (held, checkpoint) => {
      onBegin(held, checkpoint);
      workers.begin(held, checkpoint);
    },
    drain: (held) => workers.drain(held),
    drop: (held, reason) => workers.drop(held, reason),
    mayUntil: (moment) => {
      deadline = moment;
      later.resolve();
      later = Promise.withResolvers();
    },
    silentFor: () => process.silentFor,
  };
  return { work, workers };
};
