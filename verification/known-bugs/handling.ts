/** Bugs in calling the downstream. */
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { Token } from '../../src/domain/ids.ts';
import { HANDLER_OVERHEAD } from '../../src/domain/timings.ts';
import type { Batches } from '../../src/ports/batches.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { merging } from '../batches/merged.ts';
import { type Bug, type KnownBug, withOperation } from './bug.ts';
import * as moments from './moment-scenarios.ts';
import * as scenarios from './scenarios.ts';

/** A request may take five attempts of 4 s each with pauses in between, regardless of the function's remaining time. */
const requestsOutlastFunction: Bug = { timeForCall: () => 20_200 };

/** The handler counts all tasks as succeeded without a call. */
const downstreamNotCalled: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      { ...deps, downstreamOf: () => ({ call: async () => ({ kind: 'all-succeeded' }) }) },
      message,
      invocation,
    ),
};

/** Of several merged requests, the last one in the batch counts as the newest. */
const mergedRequestsInPlaceOrder: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => {
      const inner = deps.downstreamOf(operation);
      return {
        ...inner,
        call: (call) => inner.call({ ...call, items: call.items.map(({ age: _, ...item }) => item) }),
      };
    };
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/**
 * The handler stores its next message before sending it. A function that dies in between ends all messages of its
 * batch.
 */
const nextMessageStoredBeforeSend: Bug = {
  handleBatch: (deps, message, invocation) => {
    const batch: typeof deps.queues.batch = async (sent, delay) => {
      const [before, next] = [message, sent].map((each) => (each.kind === 'due' ? each.held : undefined));
      const isUncounted = sent.kind === 'due' && sent.uncounted !== undefined;
      if (before && next && next.by !== before.by)
        await deps.batches.hold(sent.batchId, { ...next, isUncounted, after: before.by });
      await deps.queues.batch(sent, delay);
    };
    return handleBatch({ ...deps, queues: { ...deps.queues, batch } }, message, invocation);
  },
};

/** A call includes every item twice. */
const itemsIncludedTwice: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: (call) => deps.downstreamOf(operation).call({ ...call, items: [...call.items, ...call.items] }),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/** The handler reads an answer that differs from the downstream's. */
const misreadResults = (change: (answer: Answer, call: Call) => Answer): Bug => ({
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: async (call) => change(await deps.downstreamOf(operation).call(call), call),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
});

const resultsAssignedWrongly = misreadResults((answer, { items }) => {
  if (answer.kind !== 'results') return answer;
  const moved = items.flatMap(({ id }, index) => {
    const item = answer.items.get((items[index + 1] ?? items[0])?.id ?? id);
    return item ? [[id, item] as const] : [];
  });
  return { ...answer, items: new Map(moved) };
});

const retryAfterIgnored = misreadResults((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { retryAfter: _, ...rest } = answer;
  return rest;
});

const throttledAttemptCounts = misreadResults((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { throttled: _, ...rest } = answer;
  return rest;
});

/** An item that the downstream throttles alone counts as one whose call failed. */
const throttledItemUsesAttempt = misreadResults((answer) => {
  if (answer.kind !== 'results') return answer;
  const items = [...answer.items].map(
    ([id, each]) => [id, each.status === 'throttled' ? { ...each, status: 'retry' as const } : each] as const,
  );
  return { ...answer, items: new Map(items) };
});

/**
 * An answer that is too large to be read counts as no answer. The call is repeated, although the downstream has
 * processed it.
 */
const largeAnswerCountsAsNone = misreadResults((answer) =>
  answer.kind === 'refused' && answer.suspect === 'its-answer'
    ? { kind: 'unavailable', reason: answer.reason, mayRetryAtOnce: true }
    : answer,
);

/** Changes how an attempt starts, or how its batch waits for it. */
const withStart = (change: (batches: Batches) => Partial<Batches>): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, batches: { ...deps.batches, ...change(deps.batches) } }, message, invocation),
});

const attemptReservesNoTime = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at - 1 }),
}));

/** An attempt reserves only the time that it needs in addition to its calls. */
const attemptReservesNoTimeForCalls = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at + HANDLER_OVERHEAD }),
}));

/** The next attempt waits for an hour more than the policy says. */
const retryTooLate = withStart((batches) => ({
  postpone: (id, attempt, { retryAt, ...rest }) =>
    batches.postpone(id, attempt, { ...rest, retryAt: retryAt + 3_600_000 }),
}));

/** Each attempt begins with the whole batch, although the whole batch was too large for an earlier attempt. */
const reducedSizeForgotten = withStart((batches) => ({
  postpone: (id, attempt, { split: _, ...rest }) => batches.postpone(id, attempt, rest),
}));

/**
 * If the client repeats the start of an attempt because the answer was lost, the handler takes the start for that of
 * another function.
 */
const repeatedStartNotRecognised = withStart((batches) => ({
  get: async (id) => {
    const batch = await batches.get(id);
    return batch && { ...batch, startedBy: 'nobody' as Token };
  },
}));

/** A call that the downstream refuses fails for all its items, and is not halved. */
const refusedCallNotHalved = misreadResults((answer) => {
  if (answer.kind !== 'refused') return answer;
  const { suspect: _, ...refused } = answer;
  return refused;
});

/** The handler retries by a policy that differs from the configured one. */
const withAttempts = (maxAttempts: number): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      withOperation(deps, ({ retry }) => ({ retry: { ...retry, maxAttempts } })),
      message,
      invocation,
    ),
});
const attemptsUnlimited = withAttempts(100);
const onlyOneAttempt = withAttempts(1);

export const HANDLING_BUGS: readonly KnownBug[] = [
  ['merged requests ordered by place, not by age', mergedRequestsInPlaceOrder, /newest text/, merging],
  ['requests may outlast their function', requestsOutlastFunction, /every function ends before its timeout/],
  ['retry delayed by an hour', retryTooLate, /retried as soon as its pause is over/, scenarios.withoutFaultsAndLimits],
  ['downstream not called', downstreamNotCalled, /included in a call/],
  ['items included twice in a call', itemsIncludedTwice, /twice in a call/],
  ['results assigned to the wrong items', resultsAssignedWrongly, /result is the downstream's answer|does not count/],
  ['attempts not limited by maxAttempts', attemptsUnlimited, /at most maxAttempts attempts/],
  ['task fails after one attempt', onlyOneAttempt, /only after the last attempt/],
  ['Retry-After ignored', retryAfterIgnored, /a retry waits for the pause/],
  ['throttled attempt counts', throttledAttemptCounts, /does not count/],
  ['throttled item uses an attempt', throttledItemUsesAttempt, /throttled alone uses no attempt|does not count/],
  ['refused call not halved', refusedCallNotHalved, /result is the downstream's answer/],
  ['answer too large counts as no answer', largeAnswerCountsAsNone, /too large, a call is repeated with half/],
  ['reduced call size forgotten', reducedSizeForgotten, /too large, a call is repeated with half/],
  [
    'next message stored before it is sent',
    nextMessageStoredBeforeSend,
    /every registered task ends/,
    scenarios.pausedForLong,
  ],
  ['attempt reserves no time', attemptReservesNoTime, /do not overlap|at most (?:total|perTarget)|does not count/],
  [
    'attempt reserves no time for its calls',
    attemptReservesNoTimeForCalls,
    /do not overlap|does not count|started attempt makes a call/,
    moments.longCalls,
  ],
  [
    'repeated start not recognised',
    repeatedStartNotRecognised,
    /started attempt makes a call|included in a call/,
    scenarios.requestsAreRepeated,
  ],
];
