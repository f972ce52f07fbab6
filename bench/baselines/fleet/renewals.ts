/**
 * Locks with renewals, a usual way to share partitions, under the virtual clock. It runs on the same simulated processes
 * as Groupage, whose timers, threads and calls are late and fail in the same way.
 *
 * How it works:
 * - N hosts share P partitions through locks in a shared store. Each partition has a lock, which expires by the clock
 *   unless it is renewed. There is no leader.
 * - It has five time spans, two hash tables in each host's memory and two subscriptions.
 * - A host acquires partitions until it has its maximum, and releases the surplus when hosts join. There are two usual
 *   formulas for this maximum, which differ.
 *
 * Assumptions:
 * - The formulas are ceil(P / N), which the benchmark runs, and floor(P / N) + 1.
 * - The time spans are: the duration of a lock, the interval of renewals, the interval at which a host announces
 *   itself, the silence after which a host is forgotten, and the interval at which a host checks its number of
 *   partitions (`reading.ts`).
 * - The tables hold the other hosts, with the time of their last announcement, and the owners of partitions, with the
 *   end of their locks. The subscriptions are to hosts that join or leave, and to partitions that were acquired or
 *   released.
 * - A host does one thing at a time, and renews each lock separately. This is how overload affects it.
 *
 * Open points are decided in its favour:
 * - Notices take 20 to 100 ms and cost nothing. Notices of one publisher arrive in order. A notice that arrives during
 *   a pause is not lost, and the host processes it before anything else. After a pause, a host therefore first
 *   finds out which hosts it forgot and which partitions it lost.
 * - A new host waits until the others have announced themselves. A leaving host announces its leaving before it
 *   releases anything, and every host with too few partitions then tries at once. A host releases the partitions that
 *   it acquired last, each after its current unit of work, and continues with other tasks meanwhile.
 * - Attempts are in random order, so that hosts seldom compete for one lock. A refusal says how long the lock lasts,
 *   and the host does not try again before that. An expired lock can still be renewed if no other host took it.
 * - A timer starts again when its task is done. A failed renewal is repeated after a second.
 * - The time of day is correct on every host, so a lock expires for its holder and for others at the same moment.
 * - The work on partitions runs beside all that and does not delay it.
 *
 * Each acquisition, renewal and release costs a write unit, also if it is refused.
 */

import type { FleetOutcome, FleetScenario } from '../../../verification/fleets/scenario.ts';
import type { Notice } from './channel.ts';
import { Host } from './host.ts';
import { Locks } from './locks.ts';
import { runModel } from './model.ts';
import type { Reading } from './reading.ts';

/** Runs a scenario until its end. The same scenario and reading give the same outcome. */
export const runRenewedLocks = (scenario: FleetScenario, reading: Reading): Promise<FleetOutcome> =>
  runModel<Notice>(scenario, (scheduler) => {
    const locks = new Locks(() => scheduler.now, reading.spans.lock);
    return {
      hostOf: (parts) => new Host({ ...parts, locks, reading }),
      ownerOf: (partition) => locks.holderOf(partition),
    };
  });
