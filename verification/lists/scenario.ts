/**
 * Scenarios of deferred lists from a seed: a few dozen jobs, clients that add, claim, trigger and end them, and every
 * fault at some rate.
 */

import { AS_THEY_COME, type Config, KEEP_AUDIT, NO_ALARMS, type Operation } from '../../src/domain/config/resolved.ts';
import { FULL_SIZE, type NodeSize } from '../../src/domain/fan-outs/tree.ts';
import type { Millis, OperationName, Token } from '../../src/domain/ids.ts';
import type { ListId } from '../../src/domain/lists/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { NOWHERE } from '../batches/simulated-downstream.ts';
import type { ClientRequest, ClientScenario } from '../harness/clients.ts';
import { faults, moreFaults } from '../harness/random-faults.ts';
import type { Patched } from './steps.ts';

export const OPERATION = 'ship' as OperationName;

/** A request of a client. */
export type ClientRequestOf = ClientRequest &
  (
    | { readonly do: 'open' | 'seal' | 'cancel' | 'delete' | 'break' }
    | { readonly do: 'append'; readonly count: number; readonly token: Token; readonly isOther?: true }
    | { readonly do: 'trigger'; readonly wanted: Wanted; readonly token: Token }
  );

/** How pulling workers treat their claims. Numbers are shares of claims unless the comment says otherwise. */
export interface Workers {
  readonly count: number;
  /** The longest time that a worker takes for a range of jobs, in ms. */
  readonly span: Millis;
  /** The most jobs per claim. */
  readonly atOnce: number;
  readonly lease: Millis;
  /** The worker dies and leaves its claim unfinished. */
  readonly dying: number;
  /** The worker does not begin, or stops before the end, and gives the remaining jobs back. */
  readonly releasing: number;
  /** The worker renews its claim before it is done. */
  readonly renewing: number;
  /** The worker completes its jobs in several parts. */
  readonly inParts: number;
  /** The worker sends the same claim twice at the same time. */
  readonly twice: number;
  /** The worker repeats its completion. */
  readonly again: number;
  /** The share of jobs that fail. */
  readonly failing: number;
  /** Jobs that end no worker normally: it dies, or gives them back as begun. */
  readonly poison: number;
  /** Whether workers that release jobs say which ones they have begun. */
  readonly reportAttempts: boolean;
  /** Whether workers report a result for each job. */
  readonly haveResults: boolean;
}

/** One list, with all requests about it. */
export interface ListPlan {
  readonly id: ListId;
  readonly hasOperation: boolean;
  readonly people: readonly (readonly ClientRequestOf[])[];
  readonly workers: Workers;
  /** The longest time that a task of the list takes, in ms. */
  readonly taskSpan: Millis;
  /** How the list ends when all its clients are done. */
  readonly ending: 'finish' | 'cancel' | 'delete';
}

export interface ListScenario extends ClientScenario {
  readonly config: Config;
  readonly nodeSize: NodeSize;
  /** The most bytes that one read of jobs returns. */
  readonly pageBytes: number;
  /** The most claims in a list's row. */
  readonly claimsMax: number;
  readonly lists: readonly ListPlan[];
  /** How long workers continue until only the end of the list is left, in ms. */
  readonly span: Millis;
  /** Replacements that put a known bug back. */
  readonly patched?: Patched;
}

/** A random scenario. The same seed gives the same scenario. */
export const listScenarioOf = (seed: number): ListScenario => {
  const random = seeded(seed ^ 0x1157);
  // A source of its own, so that the other choices of a seed stay as they were.
  const more = seeded(seed ^ 0xd311);
  const ids = Array.from({ length: random.pick([1, 1, 1, 2]) }, (_, n) => `l${n}` as ListId);
  const faultsEnd = random.pick([0, 30_000, 10 * MINUTE, 40 * MINUTE]);
  const span = random.pick([60_000, 5 * MINUTE, 30 * MINUTE]);
  return {
    seed,
    config: {
      version: 1,
      register: AS_THEY_COME,
      operations: { [OPERATION]: operation },
      sources: {},
      limits: {},
      fanOuts: { idleOpen: 10 * MINUTE, idleSealed: 10 * MINUTE, keep: 20 * MINUTE, callback: null },
      lists: {
        keep: random.pick([60, 90]) * MINUTE,
        callback: random.chance(0.9) ? 'ops' : null,
        maxDeliveries: more.pick([1, 2, 3, 5, 100]),
      },
      alarms: NO_ALARMS,
      keepAudit: KEEP_AUDIT,
      destinations: { ops: { kind: 'queue', name: 'ops' } },
    },
    nodeSize: random.chance(0.05)
      ? FULL_SIZE
      : { width: random.pick([2, 3, 4, 7]), acksAtOnce: random.pick([1, 2, 3]) },
    pageBytes: random.pick([60, 200, 4_000_000]),
    claimsMax: more.pick([1, 2, 64]),
    lists: ids.map((id) => listPlan(id, span, random, more)),
    span,
    hurry: random.pick([0, 0, 0.1, 0.4]),
    faults: { ...faults(random), ...moreFaults(seed) },
    faultsEnd,
  };
};

/** Tasks are not batched here; the simulation ends them. */
const operation: Operation = {
  operation: OPERATION,
  keys: ['depot'],
  shards: 1,
  batch: {
    maxSize: 10,
    maxBytes: 900_000,
    maxWeight: 0,
    maxWait: 1_000,
    quietPeriod: 0,
    minSize: 1,
    window: null,
    bypass: null,
  },
  merge: null,
  concurrency: { perTarget: null, total: null },
  keepTasks: 30 * 24 * 60 * MINUTE,
  downstream: {
    ...NOWHERE,
    timeout: 10_000,
    deadline: 60_000,
  },
  retry: { immediate: 0, maxAttempts: 1, minDelay: 1_000, maxDelay: 1_000, bisect: true, isolate: true },
  callbacks: { failed: null, succeeded: null },
  rateLimit: null,
  limits: [],
  circuit: null,
};

const listPlan = (id: ListId, span: Millis, random: Random, more: Random): ListPlan => {
  const hasOperation = random.chance(0.7);
  return {
    id,
    hasOperation,
    people: [...people(id, hasOperation, span, random), breaks(span, more)],
    workers: workers(random, more),
    taskSpan: random.pick([0, 5_000, 5 * MINUTE]),
    ending: random.chance(0.8) ? 'finish' : random.pick(['cancel', 'delete']),
  };
};

const workers = (random: Random, more: Random): Workers => ({
  count: random.pick([0, 1, 2, 4]),
  span: random.pick([0, 2_000, 30_000, 3 * MINUTE]),
  atOnce: random.pick([1, 2, 5, 12]),
  lease: random.pick([1_000, 20_000, 2 * MINUTE]),
  dying: random.pick([0, 0.1, 0.4]),
  releasing: random.pick([0, 0.1, 0.5]),
  renewing: random.pick([0, 0.5]),
  inParts: random.pick([0, 0.3, 1]),
  again: random.pick([0, 0, 0.3]),
  failing: random.pick([0, 0, 0.2]),
  haveResults: random.chance(0.5),
  poison: more.pick([0, 0, 0.1, 0.3]),
  reportAttempts: more.chance(0.7),
  twice: more.pick([0, 0.2]),
});

/** A person who ends claims of workers. */
const breaks = (span: Millis, more: Random): readonly ClientRequestOf[] =>
  Array.from({ length: more.pick([0, 0, 1, 4]) }, () => ({
    after: more.int(0, span / 4),
    tries: more.pick([1, Number.POSITIVE_INFINITY]),
    again: 0,
    do: 'break',
  }));

/**
 * One client opens, adds and seals. Meanwhile other clients may add, trigger or seal, or repeat the requests of another
 * client.
 */
const people = (
  id: ListId,
  hasOperation: boolean,
  span: Millis,
  random: Random,
): readonly (readonly ClientRequestOf[])[] => {
  const most = random.pick([2, 6, 20]);
  let tokens = 0;
  const nextToken = (): Token => {
    tokens += 1;
    return `${id}-${tokens}` as Token;
  };
  const request = (): { after: Millis; tries: number; again: number } => ({
    after: random.int(0, random.pick([0, 1_000, span / 2])),
    tries: random.chance(0.15) ? random.int(1, 2) : Number.POSITIVE_INFINITY,
    again: random.pick([0, 0, 0, 1]),
  });
  const appends = (count: number): ClientRequestOf[] =>
    Array.from({ length: count }, () => ({
      ...request(),
      do: 'append',
      count: random.int(1, most),
      token: nextToken(),
      ...(random.chance(0.05) ? { isOther: true } : {}),
    }));
  const triggers = (count: number): ClientRequestOf[] =>
    Array.from({ length: hasOperation ? count : 0 }, () => ({
      ...request(),
      do: 'trigger',
      wanted: random.chance(0.5) ? { count: random.int(1, 2 * most) } : { percent: random.pick([1, 25, 50, 100]) },
      token: nextToken(),
    }));
  const opener: ClientRequestOf[] = [
    { ...request(), tries: Number.POSITIVE_INFINITY, do: 'open' },
    ...appends(random.int(0, 4)),
    ...triggers(random.pick([0, 0, 1])),
    ...(random.chance(0.6) ? [{ ...request(), do: 'seal' } as const] : []),
  ];
  const others = Array.from({ length: random.pick([0, 1, 1, 3]) }, (): ClientRequestOf[] => {
    const requests = [...appends(random.int(0, 2)), ...triggers(random.int(0, 2))];
    if (random.chance(0.2)) requests.push({ ...request(), do: 'seal' });
    if (random.chance(0.04)) requests.push({ ...request(), do: random.pick(['cancel', 'delete']) });
    return requests;
  });
  const all = [opener, ...others];
  return random.chance(0.3) ? [...all, repeatedClient(random.pick(all), random)] : all;
};

/** The client, repeated as when a message is delivered twice. */
const repeatedClient = (requests: readonly ClientRequestOf[], random: Random): readonly ClientRequestOf[] =>
  requests.map((request) =>
    request.do === 'append' && random.chance(0.1)
      ? { ...request, count: request.count + 1 }
      : request.do === 'trigger' && request.after % 5 === 0
        ? { ...request, wanted: { count: 3 } }
        : request,
  );
