/**
 * Bugs of deferred lists, from drafts or invented to prove that the judges find them. Each bug replaces a step, or
 * changes the answers of the store.
 */

import { isDeepStrictEqual } from 'node:util';
import { type ClaimId, parseLeaseKey } from '../../src/domain/lists/ids.ts';
import { freed, isFree, type Lease, leased } from '../../src/domain/lists/list.ts';
import { tokensOf } from '../../src/domain/lists/ranges.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { Lists } from '../../src/ports/lists.ts';
import type { RegisterDeps } from '../../src/steps/deps.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { append } from '../../src/steps/lists/append.ts';
import { claimJobs } from '../../src/steps/lists/claim.ts';
import { complete } from '../../src/steps/lists/complete.ts';
import { release } from '../../src/steps/lists/release.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import type { ListScenario } from '../lists/scenario.ts';
import type { ListSteps, Patched } from '../lists/steps.ts';
import type { Known } from './bug.ts';
import * as scenarios from './list-scenarios.ts';

type Change = (store: Lists, deps: RegisterDeps) => Partial<Lists>;

const withLists = <Deps extends Pick<RegisterDeps, 'lists'>>(deps: Deps, change: Change): Deps => ({
  ...deps,
  lists: { ...deps.lists, ...change(deps.lists, deps as unknown as RegisterDeps) },
});
/** Puts the bug into the store of every process. */
const store = (change: Change): Patched => ({ deps: (deps) => withLists(deps, change) });
/** Puts the bug into the store of trackers. */
const tracker = (change: (fanOuts: FanOuts) => Partial<FanOuts>): Patched => ({
  deps: (deps) => ({ ...deps, fanOuts: { ...deps.fanOuts, ...change(deps.fanOuts) } }),
});
const claiming = (change: Change): Patched => ({
  steps: { claimJobs: (deps, id, claim) => claimJobs(withLists(deps, change), id, claim) },
});
const step = (steps: Partial<ListSteps>): Patched => ({ steps });

/** Writes changes of leases even if the stored leases differ from those that were read. */
const unseen = ({ change }: Lists): Partial<Lists> => ({
  change: (id, { from, ...rest }) => change(id, { from: from.map(({ until: _, ...lease }) => lease), ...rest }),
});

/** D3. A lease is taken over as soon as it has ended by the claimer's clock. */
const leaseTakenAtItsEnd = claiming((lists) => ({
  ...unseen(lists),
  read: async (id) => {
    const list = await lists.read(id);
    const late = 2 * CLOCK_SKEW;
    const leases = list?.leases.map((lease) => (lease.until > 0 ? { ...lease, until: lease.until - late } : lease));
    return list && { ...list, leases: leases ?? [] };
  },
}));

/** D3. A lease is taken over although it was renewed after it was read. */
const renewedLeaseTaken = claiming(unseen);

/** D1. Jobs are published before their rows are stored. */
const publishedBeforeStored = step({
  append: (deps, id, payloads, token) =>
    append(
      withLists(deps, ({ publish, putJobs }) => ({
        putJobs: async () => {},
        publish: async (...args) => {
          const isMine = await publish(...args);
          await putJobs(id, token, payloads);
          return isMine;
        },
      })),
      id,
      payloads,
      token,
    ),
});

/** D1. The token is read only once, before the list. */
const appendTokenReadOnce = step({
  append: (deps, id, payloads, token) => {
    let known: Promise<Awaited<ReturnType<Lists['append']>>> | undefined;
    let reads = 0;
    return append(
      withLists(deps, (lists) => ({
        append: (...args) => {
          // Each try of the step reads the list twice. The second read returns the result of the first.
          reads += 1;
          if (!known || reads % 2 === 1) known = lists.append(...args);
          return known;
        },
      })),
      id,
      payloads,
      token,
    );
  },
});

/** A transaction conflict is treated as an unexpected error. */
const conflictThrows = step({
  trigger: (deps, ...asked) =>
    trigger(
      withLists(deps, (lists) => ({
        take: async (id, token, plan) => {
          const before = await lists.read(id);
          const isTaken = await lists.take(id, token, plan);
          const after = isTaken ? undefined : await lists.read(id);
          if (after?.status === 'open' && isDeepStrictEqual(after, before) && !(await lists.trigger(id, token)))
            throw new TypeError('the transaction failed without a conflict');
          return isTaken;
        },
      })),
      ...asked,
    ),
});
/** D5. The lease is ended before its jobs are done. */
const leaseEndedBeforeAck = step({
  complete: async (deps, id, held, completion) => {
    const list = await deps.lists.read(id);
    const mine = list?.leases.filter(({ claim }) => claim === held.key) ?? [];
    if (mine.length > 0) await deps.lists.change(id, { from: mine, to: [], gone: [] });
    return complete(
      withLists(deps, ({ read }) => ({
        read: async (name) => {
          const now = await read(name);
          return now && { ...now, leases: [...now.leases.filter(({ claim }) => claim !== held.key), ...mine] };
        },
      })),
      id,
      held,
      completion,
    );
  },
});

/** A worker gets jobs that are already done, together with the other jobs of their range. */
const doneJobsHandedOut: Patched = {
  steps: {
    claimJobs: (deps, id, claim) =>
      claimJobs({ ...deps, fanOuts: { ...deps.fanOuts, node: async () => undefined } }, id, claim),
  },
};

/** As in the published algorithm: if a worker dies, its jobs are lost. */
const deadClaimNeverTakenOver = claiming(({ read }) => ({
  read: async (id) => {
    const list = await read(id);
    return (
      list && {
        ...list,
        leases: list.leases.map((lease) => (lease.until > 0 ? { ...lease, until: Number.MAX_SAFE_INTEGER } : lease)),
      }
    );
  },
}));

/** D7. The message is sent after the jobs are taken. */
const triggerSentAfterTake = step({
  trigger: async (deps, id, wanted, token) => {
    const late: string[] = [];
    const queues = { ...deps.queues, register: async (bodies: readonly string[]) => void late.push(...bodies) };
    const answer = await trigger({ ...deps, queues }, id, wanted, token);
    if (late.length > 0) await deps.queues.register(late);
    return answer;
  },
});

/** D7. A repeated trigger does not check whether its token has already taken jobs. */
const triggerIgnoresToken = store(({ take }, { machine }) => ({
  take: (id, _, taking) => take(id, machine.token(), taking),
}));

/** D7. A trigger takes only jobs that were never claimed. Jobs that were given back are left for claims. */
const triggerTakesFreshJobs = store(({ take }) => ({
  take: (id, token, { rest: _, ranges, ...taking }) =>
    take(id, token, { ...taking, ranges: ranges.filter(({ first }) => first >= taking.head), from: [] }),
}));

/** D7. Only the first part of the jobs of one message is registered. */
const triggerStopsAfterFirstPart = step({
  register: (deps, messages) => register({ ...deps, queues: { ...deps.queues, register: async () => {} } }, messages),
});

/**
 * Each copy of a message continues the trigger, and each of these continuations sends messages that do the same: 46,000
 * messages for 26 jobs.
 */
const triggerMessagesMultiply = store(() => ({ goOn: async () => {} }));

/** D9. A process that read the list before the list was cancelled still hands out jobs that were given back. */
const cancelIgnored = store(({ change }) => ({
  change: (id, of) => change(id, { ...of, isHandingOut: false }),
}));

/** D2. A repeated claim gets other jobs. */
const repeatedClaimGetsOtherJobs = (): Patched => {
  let asked = 0;
  return step({
    claimJobs: (deps, id, claim) => {
      asked += 1;
      return claimJobs(deps, id, { ...claim, claim: `${claim.claim}-${asked}` as ClaimId });
    },
  });
};

/** D2. A claim does not check whether another request has begun it meanwhile. */
const claimsBegunTwice = store(({ leaseFresh, change, putApart }) => ({
  leaseFresh: (id, lease, take) => leaseFresh(id, lease, withoutCheck(take)),
  change: (id, of) => change(id, withoutCheck(of)),
  putApart: (id, claim, of) => putApart(id, claim, withoutCheck(of)),
}));
const withoutCheck = <T extends { readonly begins?: unknown }>({ begins: _, ...rest }: T) => rest as Omit<T, 'begins'>;

/** D8. Neither the seal nor the patrol checks whether all jobs are done. */
const listSealReadsNoTracker = step({
  seal: (deps, id) => seal({ ...deps, fanOuts: { ...deps.fanOuts, node: async () => undefined } }, id),
  patrolFanOuts: async () => {},
  visit: async () => {},
});

/** D4. A renewal restores a lease although another worker may have taken its jobs. */
const lostLeaseRenewed = step({
  renew: async ({ lists, machine }, id, { key, ranges = [] }, span) => {
    const until = Math.ceil((machine.now() + span) / 1_000) * 1_000;
    const list = await lists.read(id);
    const from = list?.leases.filter(({ claim }) => claim === key) ?? [];
    const to = ranges.map((range, place) => leased(key, place, { ...range, deliveries: 1, isSuspect: false }, until));
    await lists.change(id, { from, to, gone: [] });
    return { kind: 'renewed', until };
  },
});

/** D6. Released jobs are removed from the lease, but no later claim can get them. */
const releasedJobsLost = step({
  release: async ({ lists }, id, { key }) => {
    const list = await lists.read(id);
    const from = list?.leases.filter(({ claim }) => claim === key) ?? [];
    if (from.length > 0) await lists.change(id, { from, to: [], gone: [] });
    return { kind: 'released', count: from.length, failed: 0, complete: false };
  },
});

/** D10. Jobs that are given back have no deliveries, so a job that fails each time is handed out for ever. */
const deliveriesForgotten = store(({ change }) => ({
  change: (id, { to, ...of }) =>
    change(id, { ...of, to: to.map((lease) => (lease.claim === undefined ? freed(lease, NEVER) : lease)) }),
}));
const NEVER = { deliveries: 0, isSuspect: false };

/** D10. A job fails one delivery early. */
const failedOneDeliveryEarly = step({
  claimJobs: (deps, id, claim) => {
    const { lists } = deps.config;
    const maxDeliveries = Math.max(1, lists.maxDeliveries - 1);
    return claimJobs({ ...deps, config: { ...deps.config, lists: { ...lists, maxDeliveries } } }, id, claim);
  },
});

/** The leases of a list as they would be if nothing were known about their deliveries' ends. */
const unsuspected = (leases: readonly Lease[], now: number): readonly Lease[] =>
  leases.map((lease) => {
    if (!isFree(lease, now)) return lease;
    const { claim: _, ...rest } = lease;
    return { ...rest, isSuspect: false };
  });

/** D10. Jobs of dead workers are claimed together, however often that happened: one ends the others with itself. */
const suspectsNotIsolated = step({
  claimJobs: (deps, id, claim) =>
    claimJobs(
      withLists(deps, ({ read }) => ({
        read: async (name) => {
          const list = await read(name);
          return list && { ...list, leases: unsuspected(list.leases, deps.machine.now()) };
        },
      })),
      id,
      claim,
    ),
});

/** D10. All jobs that were with the one that ended their worker in its last delivery fail with it. */
const lastDeliveryInCompany = store(({ change }, { config }) => ({
  change: (id, { from, to, ...of }) => {
    const last = { deliveries: config.lists.maxDeliveries, isSuspect: true };
    const isLast = from.some(({ key }) => parseLeaseKey(key).claim && parseLeaseKey(key).deliveries >= last.deliveries);
    const all = to.map((lease) =>
      isLast && lease.claim === undefined && lease.isSuspect ? freed(lease, last) : lease,
    );
    return change(id, { ...of, from, to: all });
  },
}));

/** D10. A release counts as a delivery of all jobs, although the worker named those that it had begun. */
const releaseCountsUnbegunJobs = step({
  release: async (deps, id, name, attempted) => {
    const list = await deps.lists.read(id);
    const mine = list?.leases.filter(({ claim }) => claim === name.key) ?? [];
    const all = mine.flatMap(tokensOf).map((token) => ({ token, error: { code: 'poison', message: 'poison' } }));
    return release(deps, id, name, attempted && all);
  },
});

/** D11. Jobs that were given back are handed out before the fresh ones. */
const releasedJobsFirst = claiming(({ read }) => ({
  read: async (id) => {
    const list = await read(id);
    return list?.leases.some(({ until }) => until === 0) ? { ...list, total: list.head } : list;
  },
}));

/** D11. The last job of merged ranges is lost. */
const mergeLosesJob = store(({ change }) => ({
  change: (id, { from, to, ...of }) => {
    const isMerge =
      to.length > 0 && to.length < from.length && [...to, ...from].every(({ key }) => key.startsWith('@'));
    return change(id, { ...of, from, to: isMerge ? to.map((lease) => ({ ...lease, count: lease.count - 1 })) : to });
  },
}));

/** D12. A broken claim loses its jobs. */
const brokenClaimLosesJobs = step({
  breakClaim: async ({ lists }, id, { key }) => {
    const list = await lists.read(id);
    const from = list?.leases.filter(({ claim }) => claim === key) ?? [];
    if (from.length > 0) await lists.change(id, { from, to: [], gone: [] });
    return { kind: 'broken', key, count: from.length };
  },
});

/** D12. The answer comes before the claim has ended. */
const breakAnswersTooEarly = step({ breakClaim: async (_, __, { key }) => ({ kind: 'broken', key, count: 1 }) });

/** D13. The jobs of a dead worker whose claim has a row of its own are lost. */
const apartNeverGathered = store(() => ({ gather: async () => false, claimsApart: async () => [] }));

/** D13. The end of a claim in a row of its own is not compared again when its jobs are taken. */
const renewedApartGathered = store(({ gather, claimApart }) => ({
  gather: async (id, moved, to, apart) => {
    const stored = await Promise.all(moved.map(async ({ claim }) => (await claimApart(id, claim.key)) ?? claim));
    const now = moved.map((each, n) => ({ ...each, claim: { ...each.claim, leases: stored[n]?.leases ?? [] } }));
    return gather(id, now, to, apart);
  },
}));

/** D13. A claim with a row of its own takes jobs without checking that they are still free. */
const apartTakesUnseen = store(({ putApart, read }) => ({
  putApart: async (id, claim, change) => {
    const list = await read(id);
    const fresh = change.fresh && list ? { ...change.fresh, head: list.head } : undefined;
    return putApart(id, claim, { ...change, ...(fresh ? { fresh } : {}) });
  },
}));

/** T9. A last group with more slots than items climbs only when all slots are set. */
const lastGroupClimbsWhenFull = tracker(({ ack }) => ({
  ack: async (...args) => {
    const acked = await ack(...args);
    return acked.isWritten
      ? { isWritten: true, node: { left: acked.node.left, failed: acked.node.failed, seenAt: acked.node.seenAt } }
      : acked;
  },
}));

/** The row of an append that has begun is deleted together with the other rows. */
const deletionIgnoresAppend = store(({ clear }) => ({
  clear: (id, groups, from, how) => clear(id, groups, from, { ...how, isSettled: true }),
}));

/** If a deletion has no time left for a group, it continues with the next group. */
const deletionSkipsGroup = store(({ clear }) => ({
  clear: async (id, groups, from, how) => {
    const rest = await clear(id, groups, from, how);
    return rest === undefined ? undefined : Math.min(rest + 1, groups);
  },
}));

/** A result is overwritten, so that the stored result differs from the counted outcome. */
const resultOverwritten = store(({ putResults }) => ({
  putResults: async (id, results) => {
    await putResults(id, results);
    return results;
  },
}));

const TWICE = /^(no job is (in two live leases|leased twice)|a job that was handed out for good)/;
const ALONE = /^a job fails by its deliveries only/;
const LOST = /^(every triggered job is done|the schedule comes to rest|every list ends|without faults the patrol)/;

export const LIST_BUGS: readonly Known<Patched, ListScenario>[] = [
  ['lease taken over at its end', leaseTakenAtItsEnd, TWICE],
  ['renewed lease taken over', renewedLeaseTaken, TWICE, scenarios.renewalsDuringTakeovers],
  ['jobs published before they are stored', publishedBeforeStored, /^added jobs are stored/],
  ['token of an append read once', appendTokenReadOnce, /^a refused token has no effect|^a repeated call/],
  ['lease ended before its jobs are acked', leaseEndedBeforeAck, /^only done jobs are removed from a lease/],
  ['done jobs handed out', doneJobsHandedOut, /^a done job is not handed out/],
  ['claim of a dead worker never taken over', deadClaimNeverTakenOver, LOST],
  ['trigger message sent after the jobs are taken', triggerSentAfterTake, LOST],
  ['trigger ignores its token', triggerIgnoresToken, /^a trigger takes no more jobs than requested/],
  ['transaction conflict treated as an error', conflictThrows, /^a step fails only/, scenarios.conflictingTransactions],
  ['trigger takes only fresh jobs', triggerTakesFreshJobs, /^a (?:trigger takes as many|repeated call)/],
  ['trigger stops after its first part', triggerStopsAfterFirstPart, LOST],
  [
    'repeated trigger messages multiply',
    triggerMessagesMultiply,
    /^messages that arrive twice do not multiply/,
    scenarios.messagesDeliveredTwice,
  ],
  ['cancellation ignored', cancelIgnored, /^no job of an ended list is handed out/, scenarios.claimsDuringCancellation],
  [
    'repeated claim gets other jobs',
    repeatedClaimGetsOtherJobs(),
    /^claimed jobs belong to the claim|^(?:no job|as many)/,
  ],
  ['claims begun twice', claimsBegunTwice, /^a claim has one set of leases/, scenarios.claimsSentTwice],
  ['seal of a list does not read the tracker', listSealReadsNoTracker, LOST, scenarios.withoutFaults],
  ['lost lease renewed', lostLeaseRenewed, TWICE],
  ['released jobs lost', releasedJobsLost, /^only done jobs are removed from a lease/],
  ['last group climbs only when full', lastGroupClimbsWhenFull, LOST, scenarios.withoutFaults],
  [
    'deletion ignores a concurrent append',
    deletionIgnoresAppend,
    /^an ended list leaves no rows/,
    scenarios.appendsDuringDeletion,
  ],
  ['deletion skips a group', deletionSkipsGroup, /^an ended list leaves no rows/, scenarios.clearingHasNoTime],
  ['deliveries forgotten', deliveriesForgotten, /^a job is not handed out again after/, scenarios.poison],
  [
    'job failed one delivery early',
    failedOneDeliveryEarly,
    /^a job fails by its deliveries only after/,
    scenarios.poison,
  ],
  ['suspect jobs not isolated', suspectsNotIsolated, ALONE, scenarios.poison],
  ['last delivery in company', lastDeliveryInCompany, ALONE, scenarios.poison],
  ['release counts jobs that were not begun', releaseCountsUnbegunJobs, ALONE, scenarios.poison],
  ['released jobs before fresh ones', releasedJobsFirst, /^jobs that were given back come after/],
  ['merged ranges lose a job', mergeLosesJob, /^only done jobs are removed/, scenarios.releasedInParts],
  ['broken claim loses its jobs', brokenClaimLosesJobs, /^only done jobs are removed/, scenarios.brokenClaims],
  ['break answered too early', breakAnswersTooEarly, /^a broken claim has no jobs/, scenarios.brokenClaims],
  ['claims apart never gathered', apartNeverGathered, LOST, scenarios.claimsApart],
  ['renewed claim apart gathered', renewedApartGathered, TWICE, scenarios.claimsApart],
  ['claim apart takes jobs unseen', apartTakesUnseen, /^no job is leased|^the head never/, scenarios.claimsAtOnce],
  ['result overwritten', resultOverwritten, /^the stored result of a job matches/, scenarios.lostReplies],
];
