/**
 * Bugs of deferred lists that were made once, by drafts or to try the checker. They stand in for single steps, or for
 * what the store answers.
 */

import { isDeepStrictEqual } from 'node:util';
import { type ClaimId, leaseKeyOf } from '../../src/domain/lists/ids.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { Lists } from '../../src/ports/lists.ts';
import type { RegisterDeps } from '../../src/steps/deps.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { append } from '../../src/steps/lists/append.ts';
import { claimJobs, complete } from '../../src/steps/lists/claim.ts';
import { trigger } from '../../src/steps/lists/trigger.ts';
import { register } from '../../src/steps/register/register.ts';
import type { ListScenario } from '../lists/scenario.ts';
import type { ListSteps, Patched } from '../lists/steps.ts';
import type { Known } from './bug.ts';
import * as where from './where-lists.ts';

type Change = (store: Lists, deps: RegisterDeps) => Partial<Lists>;

const withLists = <Deps extends Pick<RegisterDeps, 'lists'>>(deps: Deps, change: Change): Deps => ({
  ...deps,
  lists: { ...deps.lists, ...change(deps.lists, deps as unknown as RegisterDeps) },
});
/** Everybody's store does so. */
const store = (change: Change): Patched => ({ deps: (deps) => withLists(deps, change) });
/** The trackers' store does so. */
const tracker = (change: (fanOuts: FanOuts) => Partial<FanOuts>): Patched => ({
  deps: (deps) => ({ ...deps, fanOuts: { ...deps.fanOuts, ...change(deps.fanOuts) } }),
});
const claiming = (change: Change): Patched => ({
  steps: { claimJobs: (deps, id, claim) => claimJobs(withLists(deps, change), id, claim) },
});
const step = (steps: Partial<ListSteps>): Patched => ({ steps });

/** Leases are taken as they are, whatever they were when they were read. */
const unseen = ({ change }: Lists): Partial<Lists> => ({
  change: (id, from, to, how) =>
    change(
      id,
      from.map(({ until: _, ...rest }) => rest),
      to,
      how,
    ),
});

/** D3. The account's own: whoever comes when a lease is over takes it, by his clock. */
const takesAtOnce = claiming((lists) => ({
  ...unseen(lists),
  read: async (id) => {
    const list = await lists.read(id);
    const late = 2 * CLOCK_SKEW;
    const leases = list?.leases.map((lease) => (lease.until > 0 ? { ...lease, until: lease.until - late } : lease));
    return list && { ...list, leases: leases ?? [] };
  },
}));

/** D3. A lease that was renewed after it was read is taken all the same. */
const takesWhatWasRenewed = claiming(unseen);

/** D1. Jobs become the list's before they are stored. */
const publishesFirst = step({
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

/** D1. The token is read once, before the list. */
const appendsReadOnce = step({
  append: (deps, id, payloads, token) => {
    let known: Promise<Awaited<ReturnType<Lists['append']>>> | undefined;
    let reads = 0;
    return append(
      withLists(deps, (lists) => ({
        append: (...args) => {
          // Each try begins with one: the second look of a try is what is left out.
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

/** A trigger that was not taken though nothing stands in its way is a surprise, and not a transaction that met another one. */
const conflictsAreSurprises = step({
  trigger: (deps, ...asked) =>
    trigger(
      withLists(deps, (lists) => ({
        take: async (id, token, plan) => {
          const before = await lists.read(id);
          const isTaken = await lists.take(id, token, plan);
          const after = isTaken ? undefined : await lists.read(id);
          if (after?.status === 'open' && isDeepStrictEqual(after, before) && !(await lists.trigger(id, token)))
            throw new TypeError('nothing stands in its way');
          return isTaken;
        },
      })),
      ...asked,
    ),
});
/** D5. The lease ends, and then the jobs are done. */
const endsBeforeItAcks = step({
  complete: async (deps, id, held, completion) => {
    const list = await deps.lists.read(id);
    const lease = list?.leases.find(({ key }) => key === leaseKeyOf(held.claim));
    if (lease) await deps.lists.change(id, [lease], [], 'any-time');
    return complete(
      withLists(deps, ({ read }) => ({
        read: async (name) => {
          const now = await read(name);
          return now && lease ? { ...now, leases: [...now.leases.filter(({ key }) => key !== lease.key), lease] } : now;
        },
      })),
      id,
      held,
      completion,
    );
  },
});

/** Jobs that are done are handed out with the others of their range. */
const handsOutWhatIsDone: Patched = {
  steps: {
    claimJobs: (deps, id, claim) =>
      claimJobs({ ...deps, fanOuts: { ...deps.fanOuts, node: async () => undefined } }, id, claim),
  },
};

/** The published account's: who reserved and died had taken the jobs with him. */
const neverTakesOver = claiming(({ read }) => ({
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

/** D7. The message goes once the jobs are taken. */
const sendsAfterwards = step({
  trigger: async (deps, id, wanted, token) => {
    const late: string[] = [];
    const queues = { ...deps.queues, register: async (bodies: readonly string[]) => void late.push(...bodies) };
    const answer = await trigger({ ...deps, queues }, id, wanted, token);
    if (late.length > 0) await deps.queues.register(late);
    return answer;
  },
});

/** D7. Whoever goes on with a trigger does not look whether its token has taken some. */
const triggersAreOverlooked = store(({ take }, { machine }) => ({
  take: (id, _, taking) => take(id, machine.token(), taking),
}));

/** D7. A trigger takes fresh jobs alone: what was given back is for claims. */
const takesFreshJobsAlone = store(({ take }) => ({
  take: (id, token, { ranges, head, fresh }) =>
    take(id, token, { ranges: ranges.filter(({ first }) => first >= head), from: [], head, fresh }),
}));

/** D7. Of the jobs of one message none come after the first part of them. */
const goesOnWithNothing = step({
  register: (deps, messages) => register({ ...deps, queues: { ...deps.queues, register: async () => {} } }, messages),
});

/** Found by simulation: of a message that came twice each went on, and so did each of those: 46,000 for 26 jobs. */
const messagesMultiply = store(() => ({ goOn: async () => {} }));

/** D9. Who has read the list goes on handing out what was given back. */
const cancelIsOverlooked = store(({ change }) => ({
  change: (id, from, to) => change(id, from, to, 'any-time'),
}));

/** D2. A claim that is asked for again gets other jobs. */
const claimsForgetTheirName = (): Patched => {
  let asked = 0;
  return step({
    claimJobs: (deps, id, claim) => {
      asked += 1;
      return claimJobs(deps, id, { ...claim, claim: `${claim.claim}-${asked}` as ClaimId });
    },
  });
};

/** D8. A seal does not look whether all jobs are done, and the patrol does not either. */
const sealsDoNotLook = step({
  seal: (deps, id) => seal({ ...deps, fanOuts: { ...deps.fanOuts, node: async () => undefined } }, id),
  patrolFanOuts: async () => {},
  visit: async () => {},
});

/** D4. Whoever renews puts his lease back, whoever has it. */
const renewsWhatIsLost = step({
  renew: async ({ lists, machine }, id, { claim, range }, span) => {
    const lease = { ...range, key: leaseKeyOf(claim), until: Math.ceil((machine.now() + span) / 1_000) * 1_000 };
    const list = await lists.read(id);
    const from = list?.leases.filter(({ key }) => key === lease.key) ?? [];
    await lists.change(id, from, [lease], 'any-time');
    return { kind: 'renewed', until: lease.until };
  },
});

/** D6. What is given back is let go of. */
const releaseForgets = step({
  release: async ({ lists }, id, { claim }) => {
    const list = await lists.read(id);
    const lease = list?.leases.find(({ key }) => key === leaseKeyOf(claim));
    if (lease) await lists.change(id, [lease], [], 'any-time');
    return { kind: 'released', count: lease?.count ?? 0 };
  },
});

/** T9. A last group that has more slots than items climbs only when all slots are set. */
const onlyFullGroupsClimb = tracker(({ ack }) => ({
  ack: async (...args) => {
    const acked = await ack(...args);
    return acked.isWritten
      ? { isWritten: true, node: { left: acked.node.left, failed: acked.node.failed, seenAt: acked.node.seenAt } }
      : acked;
  },
}));

/** What says that jobs are about to be stored goes with the others. */
const clearsTooSoon = store(({ clear }) => ({
  clear: (id, groups, from, how) => clear(id, groups, from, { ...how, isSettled: true }),
}));

/** Clearing that had no time for a group goes on behind it. */
const clearsPastWhatIsThere = store(({ clear }) => ({
  clear: async (id, groups, from, how) => {
    const rest = await clear(id, groups, from, how);
    return rest === undefined ? undefined : Math.min(rest + 1, groups);
  },
}));

/** A result is written over: the one that is stored is not the one that counts. */
const resultsAreWrittenOver = store(({ putResults }) => ({
  putResults: async (id, results) => {
    await putResults(id, results);
    return results;
  },
}));

const TWICE = /^(no job is (in two live leases|leased twice)|a job that was handed out for good)/;
const LOST = /^(every triggered job is done|the schedule comes to rest|every list ends|without faults the patrol)/;

export const LIST_BUGS: readonly Known<Patched, ListScenario>[] = [
  ['takeovers at the end of a lease', takesAtOnce, TWICE],
  ['takeovers of what was renewed', takesWhatWasRenewed, TWICE, where.renewalsMeetTakeovers],
  ['jobs that are added before they are stored', publishesFirst, /^added jobs are stored/],
  ['an append that is looked for once', appendsReadOnce, /^a refused token has no effect|^a repeated call/],
  ['leases that end before their jobs are done', endsBeforeItAcks, /^only done jobs are removed from a lease/],
  ['claims of what is done', handsOutWhatIsDone, /^a done job is not handed out/],
  ['claims that die with their worker', neverTakesOver, LOST],
  ['triggers that are sent once they are taken', sendsAfterwards, LOST],
  ['triggers that are overlooked', triggersAreOverlooked, /^a trigger takes no more jobs than requested/],
  ['transactions that meet and are surprised', conflictsAreSurprises, /^a step fails only/, where.transactionsMeet],
  ['triggers of fresh jobs alone', takesFreshJobsAlone, /^a trigger takes as many jobs as requested/],
  ['triggers that do not go on', goesOnWithNothing, LOST],
  ['messages that multiply', messagesMultiply, /^messages that arrive twice do not multiply/, where.messagesComeTwice],
  [
    'a cancel that is overlooked',
    cancelIsOverlooked,
    /^no job of an ended list is handed out/,
    where.claimsMeetTheCancel,
  ],
  ['claims that forget their name', claimsForgetTheirName(), /^what is claimed is his|^(?:no job|as many)/],
  ['lists whose seal does not look', sealsDoNotLook, LOST, where.nothingGoesWrong],
  ['renewals of what is lost', renewsWhatIsLost, TWICE],
  ['releases that forget', releaseForgets, /^only done jobs are removed from a lease/],
  ['groups that climb only when they are full', onlyFullGroupsClimb, LOST, where.nothingGoesWrong],
  [
    'clearing that forgets who is about to add',
    clearsTooSoon,
    /^an ended list leaves no rows/,
    where.appendsMeetTheEnd,
  ],
  [
    'clearing that goes past what it did not delete',
    clearsPastWhatIsThere,
    /^an ended list leaves no rows/,
    where.clearingHasNoTime,
  ],
  ['results that are written over', resultsAreWrittenOver, /^the stored result of a job matches/, where.repliesAreLost],
];
