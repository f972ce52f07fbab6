/** Bugs of those who call downstream. */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, Call } from '../../src/domain/downstream/downstream.ts';
import type { OperationName, Token } from '../../src/domain/ids.ts';
import { NAP, VOID_AFTER } from '../../src/domain/operations/call-rate.ts';
import { delaySeconds, HANDLER_OVERHEAD } from '../../src/domain/timings.ts';
import type { Batches } from '../../src/ports/batches.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { withOperations } from '../batches/configurations.ts';
import { merging } from '../batches/merged.ts';
import { type Bug, type KnownBug, withOperation } from './bug.ts';
import * as where from './where.ts';
import * as narrow from './where-narrow.ts';

/** Five tries of 4 s each, and the pauses between them, however much time the function has left. */
const requestsHaveNoEnd: Bug = { timeForCall: () => 20_200 };

/** The handler believes that all succeeded without asking. */
const nobodyIsCalled: Bug = {
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      { ...deps, downstreamOf: () => ({ call: async () => ({ kind: 'all-succeeded' }) }) },
      message,
      invocation,
    ),
};

/** Of merged requests the one that has its turn last counts as the newest. */
const mergedRequestsGoByTurn: Bug = {
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

/** A look notes its next message before it sends it: a function that dies in between ends all messages of its batch. */
const notesGoFirst: Bug = {
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

/** Every item goes into a call twice. */
const itemsGoTwice: Bug = {
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: (call) => deps.downstreamOf(operation).call({ ...call, items: [...call.items, ...call.items] }),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
};

/** The handler hears something else than was answered. */
const misreadResults = (change: (answer: Answer, call: Call) => Answer): Bug => ({
  handleBatch: (deps, message, invocation) => {
    const downstreamOf: typeof deps.downstreamOf = (operation) => ({
      call: async (call) => change(await deps.downstreamOf(operation).call(call), call),
    });
    return handleBatch({ ...deps, downstreamOf }, message, invocation);
  },
});

const resultsGoToTheNeighbour = misreadResults((answer, { items }) => {
  if (answer.kind !== 'results') return answer;
  const moved = items.flatMap(({ id }, index) => {
    const item = answer.items.get((items[index + 1] ?? items[0])?.id ?? id);
    return item ? [[id, item] as const] : [];
  });
  return { ...answer, items: new Map(moved) };
});

const retryAfterIsIgnored = misreadResults((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { retryAfter: _, ...rest } = answer;
  return rest;
});

const throttlesAreFailures = misreadResults((answer) => {
  if (answer.kind !== 'unavailable') return answer;
  const { throttled: _, ...rest } = answer;
  return rest;
});

/** An answer that is too large to be read is taken for none: the same call is made again, with its effects. */
const largeAnswersAreNone = misreadResults((answer) =>
  answer.kind === 'refused' && answer.suspect === 'its-answer'
    ? { kind: 'unavailable', reason: answer.reason, mayRetryAtOnce: true }
    : answer,
);

/** What goes wrong with the start of an attempt, or the wait for it. */
const withStart = (change: (batches: Batches) => Partial<Batches>): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch({ ...deps, batches: { ...deps.batches, ...change(deps.batches) } }, message, invocation),
});

const attemptsOverlap = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at - 1 }),
}));

/** A run lasts for what it needs besides its calls. */
const callsTakeNoTime = withStart((batches) => ({
  start: (id, start) => batches.start(id, { ...start, runUntil: start.at + HANDLER_OVERHEAD }),
}));

/** The next attempt has to wait for an hour more than the policy says. */
const retriesAreLate = withStart((batches) => ({
  postpone: (id, attempt, { retryAt, ...rest }) =>
    batches.postpone(id, attempt, { ...rest, retryAt: retryAt + 3_600_000 }),
}));

/** Each attempt begins with the whole batch, whatever an earlier one found too large. */
const sizesAreForgotten = withStart((batches) => ({
  postpone: (id, attempt, { split: _, ...rest }) => batches.postpone(id, attempt, rest),
}));

/** A start whose answer was lost, and which the client repeated, is taken for somebody else's. */
const repeatedStartsAreOverlooked = withStart((batches) => ({
  get: async (id) => {
    const batch = await batches.get(id);
    return batch && { ...batch, startedBy: 'nobody' as Token };
  },
}));

/** A moment that is taken is taken once more. */
const ratesAreOverlooked: Bug = {
  handleBatch: (deps, message, delivery) =>
    handleBatch({ ...deps, operations: { ...deps.operations, reserveCall: async () => true } }, message, delivery),
};

/** As release 0.2.0 did it: a batch reserves its moment however far that is, and the line outlives pauses, rates and batches. */
const linesHaveNoEnd: Bug = {
  handleBatch: async (deps, message, delivery) => {
    if (message.kind === 'completion') return handleBatch(deps, message, delivery);
    const { operation } = (await deps.batches.get(message.batchId)) as Batch;
    const { rateLimit } = operationFor(deps.config, operation);
    const { line, paused } = await deps.operations.read(operation);
    const now = deps.machine.now();
    const kept = message.at !== undefined && now <= message.at + VOID_AFTER ? message.at : undefined;
    if (rateLimit !== null && !paused) {
      const at = Math.ceil(kept ?? Math.max(now, line?.next ?? 0));
      const next = { next: at + 1_000 / rateLimit, rate: 1, since: 1 };
      if (kept === undefined && !(await deps.operations.reserveCall(operation, line, next)))
        return deps.queues.batch({ kind: 'due', batchId: message.batchId }, 1);
      if (at > now + NAP)
        return deps.queues.batch({ kind: 'due', batchId: message.batchId, at }, delaySeconds(at - now));
    }
    // The rate is kept already, and the line stays.
    const config = withOperations(deps.config, () => ({ rateLimit: null }));
    const operations = { ...deps.operations, reserveCall: async () => true };
    return handleBatch({ ...deps, config, operations }, message, delivery);
  },
};

/** Whatever is refused fails as a whole, though its halves might not. */
const innocentTasksFail = misreadResults((answer) => {
  if (answer.kind !== 'refused') return answer;
  const { suspect: _, ...refused } = answer;
  return refused;
});

/** The handler retries by another policy than the one configured. */
const withAttempts = (maxAttempts: number): Bug => ({
  handleBatch: (deps, message, invocation) =>
    handleBatch(
      withOperation(deps, ({ retry }) => ({ retry: { ...retry, maxAttempts } })),
      message,
      invocation,
    ),
});
const attemptsHaveNoEnd = withAttempts(100);
const nobodyTriesAgain = withAttempts(1);

export const HANDLING_BUGS: readonly KnownBug[] = [
  ['merged requests that go by their turns', mergedRequestsGoByTurn, /newest text/, merging],
  ['requests that use up the time of a function', requestsHaveNoEnd, /every function ends before its timeout/],
  ['retries that are late', retriesAreLate, /retried as soon as its pause is over/, where.nobodyWaits],
  ['a downstream that is not called', nobodyIsCalled, /included in a call/],
  ['items that go twice', itemsGoTwice, /twice in a call/],
  ['results that go to the neighbour', resultsGoToTheNeighbour, /result is the downstream's answer|does not count/],
  ['attempts without end', attemptsHaveNoEnd, /at most maxAttempts attempts/],
  ['tasks that are given up early', nobodyTriesAgain, /only after the last attempt/],
  ['a Retry-After that is ignored', retryAfterIsIgnored, /a retry waits for the pause/],
  ['calls that come too often and use tries up', throttlesAreFailures, /does not count/],
  ['calls that overlook the rate', ratesAreOverlooked, /calls stay within rateLimit/, where.nothingGoesWrong],
  [
    'lines that outlive a pause',
    linesHaveNoEnd,
    /waits for rateLimit no longer/,
    where.inLine({ pauses: [{ at: 60_000, lasts: 960_000, of: 'ship' as OperationName }] }),
  ],
  [
    'lines that outlive their rate',
    linesHaveNoEnd,
    /waits for rateLimit no longer/,
    where.inLine({ changes: [{ at: 60_000, to: { rateLimit: 20 } }] }),
  ],
  [
    'lines that outlive a time without a rate',
    linesHaveNoEnd,
    /waits for rateLimit no longer/,
    where.inLine(
      {
        changes: [
          { at: 60_000, to: { rateLimit: null } },
          { at: 1_000_000, to: { rateLimit: 0.05 } },
        ],
      },
      [1_010_000],
    ),
  ],
  ['innocent tasks that fail with their batch', innocentTasksFail, /result is the downstream's answer/],
  ['answers that are too large and count as none', largeAnswersAreNone, /too large, a call is repeated with half/],
  ['halves that are forgotten', sizesAreForgotten, /too large, a call is repeated with half/],
  ['held messages that are noted before they are sent', notesGoFirst, /every registered task ends/, where.heldForLong],
  ['attempts that overlap', attemptsOverlap, /do not overlap|at most (?:total|perTarget)|does not count/],
  [
    'runs that end before their calls',
    callsTakeNoTime,
    /do not overlap|does not count|started attempt makes a call/,
    narrow.longCalls,
  ],
  [
    'a start that is repeated and not recognised',
    repeatedStartsAreOverlooked,
    /started attempt makes a call|included in a call/,
    where.requestsAreRepeated,
  ],
];
