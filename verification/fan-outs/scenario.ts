/**
 * Scenarios of fan-outs from a seed. Nodes are small, so that a few dozen items make a tree. Every fault occurs at some
 * rate.
 */

import { AS_THEY_COME, type Config, KEEP_AUDIT, NO_ALARMS } from '../../src/domain/config/resolved.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import type { FailFast, ItemOutcome } from '../../src/domain/fan-outs/fan-out.ts';
import { FULL_SIZE, type NodeSize } from '../../src/domain/fan-outs/tree.ts';
import type { Millis, Token } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { ListDeps } from '../../src/steps/deps.ts';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { addItems } from '../../src/steps/fan-outs/add-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts, visit } from '../../src/steps/fan-outs/patrol.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import type { ClientRequest, ClientScenario } from '../harness/clients.ts';
import { faults, moreFaults } from '../harness/random-faults.ts';

/** The steps that a schedule runs. */
export const STEPS = { addItems, ackItems, seal, discard, patrolFanOuts, visit };
export type FanOutSteps = typeof STEPS;

/** Replacements that put a known bug back. */
export interface Patched {
  readonly steps?: Partial<FanOutSteps>;
  /** Changes the ports of every process. */
  readonly deps?: (deps: ListDeps) => ListDeps;
}

/** A request of a producer. */
export type ClientRequestOf = ClientRequest &
  ({ readonly do: 'open' | 'seal' | 'delete' } | { readonly do: 'add'; readonly count: number; readonly token: Token });

/** A producer makes its requests one after another. */
interface Producer {
  readonly id: FanOutId;
  readonly requests: readonly ClientRequestOf[];
}

/** How consumers ack the items of one fan-out. */
export interface Consumers {
  /** The longest time until an ack, in ms. */
  readonly span: Millis;
  /** The most items in one call. */
  readonly atOnce: number;
  readonly failing: number;
  /** The share of items that are never acked. */
  readonly lost: number;
  /** How often an item is acked again, possibly with another outcome. */
  readonly again: number;
  /** The share of acks that are not repeated if they fail. */
  readonly careless: number;
  /** The share of acks that name, in addition, an item that does not exist. */
  readonly stray: number;
}

/** How a fan-out is opened and used. */
export interface Wishes {
  readonly failFast?: FailFast;
  readonly notifyFirstFailure?: true;
  readonly consumers: Consumers;
  /** The share of failed items whose tasks are redriven with success. */
  readonly redriven: number;
}

export interface FanOutScenario extends ClientScenario {
  readonly config: Config;
  readonly nodeSize: NodeSize;
  readonly fanOuts: ReadonlyMap<FanOutId, Wishes>;
  readonly producers: readonly Producer[];
  /** Replacements that put a known bug back. */
  readonly patched?: Patched;
}

/** A random scenario. The same seed gives the same scenario. */
export const fanOutScenarioOf = (seed: number): FanOutScenario => {
  const random = seeded(seed ^ 0xfa0);
  const ids = Array.from({ length: random.pick([1, 1, 1, 2]) }, (_, n) => `f${n}` as FanOutId);
  const isLarge = random.chance(0.02);
  const idle = { idleOpen: random.pick([10, 20, 60]) * MINUTE, idleSealed: random.pick([10, 30, 90]) * MINUTE };
  const keep = random.pick([20, 60]) * MINUTE;
  return {
    seed,
    config: {
      version: 1,
      register: AS_THEY_COME,
      operations: {},
      sources: {},
      limits: {},
      fanOuts: { ...idle, keep, callback: random.chance(0.9) ? 'ops' : null },
      lists: { keep, callback: null, maxDeliveries: 5 },
      alarms: NO_ALARMS,
      keepAudit: KEEP_AUDIT,
      destinations: { ops: { kind: 'queue', name: 'ops' } },
    },
    nodeSize: isLarge
      ? { width: 20, acksAtOnce: 10 }
      : random.chance(0.05)
        ? FULL_SIZE
        : { width: random.pick([2, 2, 3, 4]), acksAtOnce: random.pick([1, 2, 3]) },
    fanOuts: new Map(
      ids.map((id) => [
        id,
        { ...failFast(random, isLarge), consumers: consumers(random, isLarge), ...redrivesAndNotices(seed, id) },
      ]),
    ),
    producers: ids.flatMap((id) => producers(id, isLarge, idle.idleOpen, random)),
    hurry: random.pick([0, 0, 0.1, 0.4]),
    faults: { ...faults(random), ...moreFaults(seed) },
    faultsEnd: random.pick([0, 30_000, 20 * MINUTE, 90 * MINUTE]),
  };
};

/** Drawn from the seed alone, so that the rest of a scenario does not depend on it. */
const redrivesAndNotices = (seed: number, id: FanOutId): Pick<Wishes, 'redriven' | 'notifyFirstFailure'> => {
  const random = seeded(seedOf(seed, `redrives of ${id}`));
  return {
    redriven: random.pick([0, 0, 0.5, 1]),
    ...(random.chance(0.3) ? { notifyFirstFailure: true } : {}),
  };
};

const failFast = (random: Random, isLarge: boolean): { readonly failFast?: FailFast } => {
  if (isLarge) return random.chance(0.7) ? { failFast: { share: random.pick([0.3, 0.5]) } } : {};
  if (random.chance(0.6)) return {};
  return { failFast: random.chance(0.5) ? { count: random.int(0, 5) } : { share: random.pick([0, 0.1, 0.3, 0.6]) } };
};

const consumers = (random: Random, isLarge: boolean): Consumers => ({
  span: random.pick([0, 2_000, 60_000, 20 * MINUTE, 60 * MINUTE]),
  atOnce: isLarge ? 10 : random.pick([1, 1, 3, 10]),
  failing: isLarge ? 0.5 : random.pick([0, 0, 0.1, 0.5]),
  lost: random.pick([0, 0, 0, 0.05, 0.5]),
  again: random.pick([0, 0.2, 1]),
  careless: random.pick([0, 0, 0.2]),
  stray: random.pick([0, 0.1]),
});

/**
 * One producer opens, adds and seals. Meanwhile other producers may add, seal too, or repeat the requests of another
 * producer.
 */
const producers = (id: FanOutId, isLarge: boolean, idleOpen: Millis, random: Random): readonly Producer[] => {
  const count = random.pick([1, 1, 2, 3]);
  const most = isLarge ? 400 : random.pick([3, 8, 30]);
  const pause = random.pick([0, 1_000, 60_000, idleOpen]);
  let adds = 0;
  const requests = (first: boolean): readonly ClientRequestOf[] => {
    const request = (): { after: Millis; tries: number; again: number } => ({
      after: random.chance(0.1) ? idleOpen + random.int(-2 * MINUTE, 4 * MINUTE) : random.int(0, pause),
      tries: random.chance(0.15) ? random.int(1, 2) : Number.POSITIVE_INFINITY,
      again: random.pick([0, 0, 0, 1]),
    });
    const added = Array.from({ length: random.pick([0, 1, 1, 2, 4]) }, (): ClientRequestOf => {
      adds += 1;
      return { ...request(), do: 'add', count: random.int(1, most), token: `${id}-${adds}` as Token };
    });
    return [
      ...(first || random.chance(0.9) ? [{ ...request(), do: 'open' } as const] : []),
      ...added,
      ...(random.chance(first ? 0.85 : 0.5) ? [{ ...request(), do: 'seal' } as const] : []),
      ...(random.chance(0.05) ? [{ ...request(), after: random.int(0, 30 * MINUTE), do: 'delete' } as const] : []),
    ];
  };
  const all = Array.from({ length: count }, (_, n): Producer => ({ id, requests: requests(n === 0) }));
  const repeated = random.chance(0.2) ? [repeatedProducer(random.pick(all), random)] : [];
  return [...all, ...repeated];
};

/**
 * The producer, repeated as when a message is delivered twice. Sometimes the repetition adds another number of items.
 */
const repeatedProducer = ({ id, requests }: Producer, random: Random): Producer => ({
  id,
  requests: requests.map((request) =>
    request.do === 'add' && random.chance(0.1) ? { ...request, count: request.count + 1 } : request,
  ),
});

/** Items acked in one call, and when. */
export interface Delivery {
  readonly at: Millis;
  readonly items: readonly { readonly group: number; readonly index: number; readonly outcome: ItemOutcome }[];
  readonly tries: number;
  /** Whether the call is repeated after its answer. */
  readonly again: boolean;
}

/** How consumers ack the added items: in any order, in parts, and some items twice. */
export const deliveriesOf = (
  groups: readonly { readonly n: number; readonly size: number }[],
  { span, atOnce, failing, lost, again, careless, stray }: Consumers,
  random: Random,
): readonly Delivery[] => {
  const all = groups.flatMap(({ n, size }) => Array.from({ length: size }, (_, index) => ({ group: n, index })));
  const given = all.flatMap((item) => {
    if (random.chance(lost)) return [];
    return random.chance(again) ? [item, item] : [item];
  });
  // In order, as consumers of contiguous tasks ack, or shuffled.
  const ordered = random.chance(0.5)
    ? given
    : given
        .map((item) => ({ item, order: random.next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item);
  const deliveries: Delivery[] = [];
  for (let from = 0; from < ordered.length; ) {
    const size = random.int(1, atOnce);
    const part = ordered.slice(from, from + size);
    const strays = random.chance(stray) ? [{ group: random.int(0, 30), index: random.int(0, 6) }] : [];
    deliveries.push({
      at: random.int(0, span),
      items: [...part, ...strays].map((item) => ({
        ...item,
        outcome: random.chance(failing) ? 'failed' : 'succeeded',
      })),
      tries: random.chance(careless) ? 1 : Number.POSITIVE_INFINITY,
      again: random.chance(0.2),
    });
    from += size;
  }
  return deliveries;
};
