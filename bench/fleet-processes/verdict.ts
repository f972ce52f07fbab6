/**
 * Checks a log of workers. The rules, for each partition:
 *
 * 1. A fence belongs to one process.
 * 2. A process does one unit at a time.
 * 3. No unit begins under a fence after a unit has begun under a later fence.
 * 4. P7: a unit that takes less than two cycles (a third of the shortest Ttl) ends before a unit begins under a later
 * fence. A longer unit, of a process that stood still during the unit, may overlap. It began before its deadline and,
 * by rule 3, before all units of later fences. The overlap is therefore shorter than the unit.
 * 5. P8: no checkpoint is accepted under a fence if it was sent after a unit began under a later fence.
 * 6. Accepted values never decrease, and each new owner continues from the last accepted value.
 */
import type { Logged } from './log.ts';

interface Unit {
  readonly who: string;
  readonly p: string;
  readonly fence: number;
  readonly begin: number;
  /** The end of the unit; infinite if SIGKILL ended the process first. */
  readonly end: number;
}

export interface Verdict {
  readonly violations: readonly string[];
  readonly units: number;
  /** The number of times that a partition moved to a worker with another name. */
  readonly moves: number;
  /**
   * The number of units that overlap a unit of a later fence, as rule 4 allows, and the longest of these overlaps, in
   * ms.
   */
  readonly overlaps: number;
  readonly longestOverlap: number;
  /** The number of checkpoints that were accepted and refused. */
  readonly accepted: number;
  readonly refused: number;
  /** The longest time between the starts of two consecutive units of a partition, in ms. */
  readonly longestPause: number;
  /** The longest time from the last checkpoint of an owner, which ends its call, to the call of the next owner, in ms. */
  readonly longestHandOver: number;
}

type Checkpoint = Extract<Logged, { is: 'checkpoint' }>;

const grouped = <T extends { readonly p: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> =>
  Map.groupBy(all, ({ p }) => p);

/** The units in the entries, which must be ordered by time. SIGKILL ended the units that have no end. */
const unitsOf = (entries: readonly Logged[]): readonly Unit[] => {
  const units: { -readonly [Name in keyof Unit]: Unit[Name] }[] = [];
  const open = new Map<string, (typeof units)[number]>();
  for (const entry of entries) {
    if (entry.is !== 'begin' && entry.is !== 'end') continue;
    const { who, p, fence, at } = entry;
    const key = `${who} ${p}`;
    if (entry.is === 'begin') {
      const unit = { who, p, fence, begin: at, end: Number.POSITIVE_INFINITY };
      units.push(unit);
      open.set(key, unit);
    } else {
      const unit = open.get(key);
      if (unit) unit.end = at;
      open.delete(key);
    }
  }
  return units;
};

/**
 * @param died when each process was killed
 * @param shortest units that take less than this must not overlap: two cycles, in ms
 */
export const verdictOf = (entries: readonly Logged[], died: ReadonlyMap<string, number>, shortest: number): Verdict => {
  const violations: string[] = [];
  const units = unitsOf(entries).map((unit) => ({ ...unit, end: Math.min(unit.end, died.get(unit.who) ?? unit.end) }));
  const checkpoints = grouped(entries.filter((entry): entry is Checkpoint => entry.is === 'checkpoint'));
  let [moves, overlaps, longestOverlap, longestPause] = [0, 0, 0, 0];
  for (const [p, own] of grouped(units)) {
    violations.push(...ofOrder(p, own), ...ofCheckpoints(p, own, checkpoints.get(p) ?? [], entries));
    moves += changes(own).filter(([before, unit]) => nameOf(before.who) !== nameOf(unit.who)).length;
    for (const [before, unit] of pairs(own)) longestPause = Math.max(longestPause, unit.begin - before.begin);
    for (const [unit, later] of overlapping(own)) {
      const span = Math.min(unit.end, later.end) - later.begin;
      if (unit.end - unit.begin < shortest)
        violations.push(`4. ${p}: a unit of ${unit.end - unit.begin} ms overlaps the next owner's by ${span} ms`);
      overlaps += 1;
      longestOverlap = Math.max(longestOverlap, span);
    }
  }
  const of = (outcome: Checkpoint['outcome']): number =>
    [...checkpoints.values()].flat().filter((each) => each.outcome === outcome).length;
  return {
    ...{ violations, units: units.length, moves, overlaps, longestOverlap, longestPause },
    longestHandOver: handOverOf(entries),
    accepted: of('accepted'),
    refused: of('refused'),
  };
};

/** A worker stores a checkpoint just before `onPartition` returns. */
const handOverOf = (entries: readonly Logged[]): number => {
  const ended = new Map<string, Checkpoint>();
  let longest = 0;
  for (const entry of entries) {
    if (entry.is === 'checkpoint') ended.set(entry.p, entry);
    if (entry.is !== 'call') continue;
    const last = ended.get(entry.p);
    if (last && last.fence < entry.fence) longest = Math.max(longest, entry.at - last.at);
  }
  return longest;
};

const pairs = <T>(all: readonly T[]): readonly (readonly [T, T])[] =>
  all.slice(1).map((each, index) => [all[index] as T, each]);

const nameOf = (who: string): string => who.split('#')[0] ?? who;

/** Pairs of consecutive units with different fences. */
const changes = (units: readonly Unit[]) => pairs(units).filter(([before, unit]) => before.fence !== unit.fence);

const overlapping = (units: readonly Unit[]): readonly (readonly [Unit, Unit])[] =>
  // By rule 2, units of one fence do not overlap, so only a few units are open at once.
  changes(units).flatMap(([, later]) =>
    units
      .filter(({ fence, begin, end }) => fence < later.fence && begin <= later.begin && end > later.begin)
      .map((unit): readonly [Unit, Unit] => [unit, later]),
  );

/** Checks rules 1 to 3. */
const ofOrder = (p: string, units: readonly Unit[]): readonly string[] => {
  const owners = new Map<number, string>();
  return units.flatMap((unit, index): string[] => {
    const before = units[index - 1];
    const owner = owners.get(unit.fence) ?? unit.who;
    owners.set(unit.fence, owner);
    const wrong: string[] = [];
    if (owner !== unit.who) wrong.push(`1. ${p}: fence ${unit.fence} belongs to ${owner} and to ${unit.who}`);
    if (before?.who === unit.who && before.end > unit.begin)
      wrong.push(`2. ${p}: ${unit.who} does two units at once, at ${unit.begin}`);
    if (before && before.fence > unit.fence)
      wrong.push(`3. ${p}: ${unit.who} begins under fence ${unit.fence} at ${unit.begin}, after ${before.fence}`);
    return wrong;
  });
};

/** Checks rules 5 and 6. */
const ofCheckpoints = (
  p: string,
  units: readonly Unit[],
  checkpoints: readonly Checkpoint[],
  entries: readonly Logged[],
): readonly string[] => {
  const wrong: string[] = [];
  const accepted = checkpoints.filter(({ outcome }) => outcome === 'accepted');
  for (const { from, fence, value } of accepted) {
    const later = units.find((unit) => unit.fence > fence);
    if (later && later.begin < from)
      wrong.push(`5. ${p}: ${value} is accepted under fence ${fence}, after ${later.fence}`);
  }
  for (const [before, next] of pairs([...accepted].sort((a, b) => a.fence - b.fence || a.from - b.from)))
    if (next.value < before.value)
      wrong.push(`6. ${p}: the checkpoint decreases from ${before.value} to ${next.value}`);
  for (const call of entries) {
    if (call.is !== 'call' || call.p !== p) continue;
    const last = Math.max(0, ...accepted.filter(({ fence }) => fence < call.fence).map(({ value }) => value));
    if (call.from < last) wrong.push(`6. ${p}: ${call.who} continues from ${call.from}, although ${last} was accepted`);
  }
  return wrong;
};
