/**
 * Long scenarios from a seed: a few tasks of a few Targets, over months. Events happen in episodes of some minutes,
 * which are weeks apart. Rows expire and ids are used again. Pauses and removed operations last longer than retention
 * periods and times to live.
 */

import { AS_THEY_COME, type Operation } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { faults, moreFaults } from '../harness/random-faults.ts';
import { type ConfigChange, configOf } from './configurations.ts';
import { lessOften } from './large-scenario.ts';
import { randomLimits } from './random-limits.ts';
import type { Scenario, Stop } from './scenario.ts';
import { NOWHERE } from './simulated-downstream.ts';

const NAMES = ['ship', 'bill'] as OperationName[];
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;
/** How long an episode takes. */
const EPISODE: Millis = 10 * MINUTE;

/** A random scenario. The same seed gives the same scenario. */
export const longScenarioOf = (seed: number): Scenario => {
  const random = seeded(seed ^ 0x10e6);
  const names = NAMES.slice(0, random.int(1, 2));
  const episodes = episodesOf(random);
  const end = (episodes.at(-1) as Millis) + EPISODE;
  const within = (episode: Millis): Millis => episode + random.int(0, EPISODE);
  /** How long a pause or a stop lasts: until another episode, or some hours or days. */
  const lasts = (at: Millis): Millis =>
    Math.min(random.pick([HOUR, DAY, 20 * DAY, end, until(random, episodes, at)]), end - at);
  const anything = (): OperationName | Target => random.pick([random.pick(names), targetOf(random, names)]);
  const some = <T>(chance: number, most: number, one: (episode: Millis) => T): T[] =>
    episodes.flatMap((episode) =>
      random.chance(chance) ? Array.from({ length: random.int(1, most) }, () => one(episode)) : [],
    );
  const stops = some(0.1, 1, (episode): Stop => {
    const from = within(episode);
    return { from, until: from + Math.min(lasts(from), 40 * DAY), of: random.pick(STOPPED) };
  });
  const limited = randomLimits(seed, 1 / 4, end, [0.2, 5]);
  const operations = names.map((name) => [name, { ...operation(random, name), ...limited.named() }]);
  return {
    seed,
    config: {
      ...configOf(AS_THEY_COME, Object.fromEntries(operations), { ops: { kind: 'queue', name: 'ops' } }),
      limits: limited.limits,
    },
    sends: sendsIn(random, names, episodes),
    flushes: some(0.2, 1, (episode) => ({ at: within(episode), target: targetOf(random, names) })),
    cancels: some(0.2, 2, (episode) => ({ at: within(episode), id: idOf(random) })),
    pauses: some(0.25, 1, (episode) => {
      const at = within(episode);
      return { at, lasts: lasts(at), of: anything() };
    }),
    redrives: some(0.4, 1, (episode) => ({
      at: within(episode) + random.pick([0, DAY]),
      times: random.pick([1, 1, 2]),
    })),
    purges: [],
    sendsAgain: [end + MINUTE],
    changes: [...changesIn(random, names, episodes, end), ...limited.changes].toSorted((a, b) => a.at - b.at),
    stops,
    faults: random.chance(0.3) ? NO_FAULTS : lessOften({ ...faults(random), ...moreFaults(seed) }),
    faultsEnd: random.pick([0, DAY, end, end]),
    // Always on, because in months the patrol reads each lock row many times in any case.
    patrol: true,
    isLong: true,
  };
};

/** Functions that stand still at the same time: all of them, one of them, or the elect function and the sweep. */
const STOPPED: readonly Stop['of'][] = [
  ['register', 'elect', 'group', 'batch', 'sweep'],
  ['register'],
  ['elect'],
  ['group'],
  ['batch'],
  ['sweep'],
  ['elect', 'sweep'],
];

/**
 * When the episodes begin. The time between two episodes is about as long as rows are kept, so rows expire before,
 * during or after the next episode.
 */
const episodesOf = (random: Random): readonly Millis[] => {
  let at = 0;
  return Array.from({ length: random.int(3, 8) }, (_, n) => {
    if (n > 0)
      at += random.pick([2 * HOUR, DAY, DAY, 8 * DAY, 15 * DAY, 31 * DAY, 62 * DAY, 95 * DAY]) + random.int(0, DAY);
    return at;
  });
};

const until = (random: Random, episodes: readonly Millis[], at: Millis): Millis => {
  const later = episodes.filter((each) => each > at);
  return later.length === 0 ? HOUR : random.pick(later) - at + random.int(0, EPISODE);
};

const targetOf = (random: Random, names: readonly OperationName[]): Target =>
  `${random.pick(names)}/depot=${random.int(1, 2)}` as Target;

/** One of a few ids, so that ids are used again. */
const idOf = (random: Random): TaskId => `t${random.int(0, 9)}` as TaskId;

/**
 * In most cases the id determines a task's operation and Target. Its payload is one of two. Each message has a
 * `correlationId` of its own, so that no two messages are equal.
 */
const sendsIn = (random: Random, names: readonly OperationName[], episodes: readonly Millis[]): Scenario['sends'] => {
  let n = 0;
  return episodes.flatMap((episode) =>
    Array.from({ length: random.int(0, 6) }, () => {
      n += 1;
      const id = idOf(random);
      const number = Number(id.slice(1));
      const operation = random.chance(0.05) ? random.pick(names) : names[number % names.length];
      const text = 'x'.repeat(random.pick([3, 3, 3, 60]) + (number % 2));
      const wishes = {
        priority: random.chance(0.1) ? random.int(0, 9) : undefined,
        coalesceKey: random.chance(0.15) ? 'k' : undefined,
        expiresIn: random.chance(0.1) ? random.pick(['30s', '10m', '20d']) : undefined,
        callback: random.chance(0.2) ? 'ops' : undefined,
      };
      const payload = { depot: 1 + (Math.floor(number / 2) % 2), text };
      return {
        at: episode + random.int(0, EPISODE),
        body: JSON.stringify({ operation, id, correlationId: `c${n}`, ...wishes, payload }),
      };
    }),
  );
};

/**
 * Caps, rates and policies change now and then. An operation is removed and added again. In the end all operations are
 * configured.
 */
const changesIn = (
  random: Random,
  names: readonly OperationName[],
  episodes: readonly Millis[],
  end: Millis,
): readonly ConfigChange[] => {
  if (random.chance(0.3)) return [];
  const changes = episodes.flatMap((episode): readonly ConfigChange[] => {
    if (random.chance(0.4)) return [];
    const [operation, at] = [random.pick(names), episode + random.int(0, EPISODE)];
    if (random.chance(0.15)) {
      const back = Math.min(at + random.pick([MINUTE, HOUR, DAY, 15 * DAY]), end);
      return [
        { at, operation, to: null },
        { at: back, operation, to: {} },
      ];
    }
    const to = random.pick<() => Partial<Operation>>([
      () => ({ concurrency: caps(random) }),
      () => ({ concurrency: caps(random) }),
      () => ({ rateLimit: random.pick([null, 0.2, 20]) }),
      () => ({ batch: policy(random, 7 * DAY) }),
    ])();
    return [{ at, operation, to }];
  });
  // In the end no operation has a policy that waits for days.
  const last = names.map((operation) => ({ at: end, operation, to: { batch: policy(random, HOUR) } }));
  return [...changes, ...last].toSorted((a, b) => a.at - b.at);
};

const caps = (random: Random): Operation['concurrency'] => {
  const total = random.pick([null, 1, 2, 5]);
  return { total, perTarget: random.pick([null, 1, 2, 5].filter((each) => each === null || each <= (total ?? 5))) };
};

const policy = (random: Random, longest: Millis): Operation['batch'] => ({
  maxSize: random.pick([1, 2, 5]),
  maxBytes: 1_000_000,
  maxWeight: 0,
  maxWait: random.pick([0, 1_000, 40_000, longest]),
  quietPeriod: 0,
  minSize: 1,
  window: null,
  bypass: null,
});

const operation = (random: Random, name: OperationName): Operation => ({
  operation: name,
  keys: ['depot'],
  shards: 1,
  batch: policy(random, HOUR),
  merge: null,
  concurrency: caps(random),
  downstream: {
    ...NOWHERE,
    timeout: random.pick([1_000, 10_000]),
    deadline: random.pick([60_000, HOUR]),
  },
  retry: {
    immediate: random.int(0, 1),
    maxAttempts: random.int(1, 4),
    minDelay: 1_000,
    maxDelay: random.pick([5_000, 300_000, 2_000_000]),
    bisect: random.chance(0.8),
    isolate: true,
  },
  callbacks: { failed: random.pick([null, 'ops']), succeeded: random.pick([null, 'ops']) },
  limits: [],
  rateLimit: random.pick([null, null, null, 1]),
  circuit: random.chance(0.2) ? { failures: random.int(1, 5), coolDown: 30_000 } : null,
  keepTasks: random.pick([DAY, DAY, 7 * DAY, 30 * DAY]),
});
