/** Gathers the evidence of a schedule for its judges, and decides which promises apply to it. */
import { type Millis, type OperationName, operationOf, type Target } from '../../src/domain/ids.ts';
import { isLimited } from '../../src/domain/limits/limits.ts';
import { START } from '../../src/virtual/trace.ts';
import type { Account } from './account.ts';
import type { Configurations } from './configurations.ts';
import type { Evidence } from './evidence.ts';
import type { People } from './operators.ts';
import type { Scenario } from './scenario.ts';
import { PATROLLED_AT_ONCE } from './sweeps.ts';
import { redrivesIn } from './unique-names.ts';

/**
 * The time that a schedule without faults may take beyond the policy: delays are up to a second late, and steps take
 * time.
 */
const SLACK: Millis = 10_000;

export const gatherEvidence = (account: Account, { flushes, redriven }: People): Evidence => {
  const { scenario, configs, tables, sent, rejected, log, sentCallbacks, seen, lost, expired, partitions } = account;
  const { config, patrol, faults, faultsEnd, purges, cancels = [], pauses = [], items, outages = [] } = scenario;
  const { counts, died, late, hindered, unsent, received, paused, outOfTime } = account.simulation.chaos;
  const { isLong = false, slack = SLACK } = scenario;
  // Requests that the client repeats, and messages that overtake their sender, must not have any effect. So they do not
  // count as faults.
  const { repeat: _, overtaken: __, ...grave } = counts;
  const { throttled = 0, gaveUp = 0 } = partitions ?? {};
  const happened = Object.values(grave).some((count) => count > 0) || outages.length > 0 || throttled > 0;
  const areClocksRight = faults.skew === 0 || faultsEnd === 0;
  return {
    config,
    configs,
    tables,
    sent,
    rejected,
    log,
    sentCallbacks,
    ...(items === undefined ? {} : { items }),
    ...(scenario.poison ? { poison: scenario.poison } : {}),
    seen,
    flushes,
    cancelled: new Set(cancels.map(({ id }) => id)),
    redriven,
    lost,
    mayLackOperation: configs.removed.size > 0,
    payloadsGone: new Set(expired.payloads.map(({ row }) => row)),
    outlived: new Set(),
    refusedRedrives: redrivesIn(config, [...rejected.map(({ body }) => body), ...lost]),
    // One patrol reaches all Targets up to this number. With more Targets, a round of the patrol takes up to an hour.
    patrolled: patrol && tables.locks.size <= PATROLLED_AT_ONCE,
    mayBeForgotten: patrol && !happened && areClocksRight,
    isPurged: account.wasPurged,
    mayStopAmidWork:
      grave.crash + grave.throttle + grave.partial + grave.lostReply + grave.afterwards + grave.hang + gaveUp > 0 ||
      // The platform ended an invocation because throttled requests took all its time.
      late.size + outOfTime.size > 0 ||
      outages.length > 0,
    died,
    late,
    hindered,
    unsent,
    received,
    mayOverlap: paused.has('batch'),
    mayTakeLate: paused.has('group') || grave.afterwards > 0,
    wasPaused: pauses.length > 0,
    pauseEnds: pauses.map(({ at, lasts }) => START + at + lasts),
    waitFor: waitFor(configs, pauses),
    slack,
    skew: faults.skew,
    repairedAt:
      purges.length > 0 || isLong ? undefined : START + Math.max(faultsEnd, ...outages.map(({ until }) => until)),
    isCalm: !happened && !isLong && purges.length === 0 && areClocksRight,
  };
};

/** Operations whose batches may have to wait for a slot, a moment, their circuit, or the end of a pause. */
const waitFor = (configs: Configurations, pauses: NonNullable<Scenario['pauses']>): ReadonlySet<OperationName> => {
  const limited = configs.all
    .flatMap(({ config }) => Object.values(config.operations))
    .filter(
      ({ concurrency: { perTarget, total }, circuit, ...operation }) =>
        perTarget !== null || total !== null || circuit !== null || isLimited(operation),
    );
  const paused = pauses.map(({ of }) => operationOf(of as Target));
  return new Set([...limited.map(({ operation }) => operation), ...paused]);
};
