/**
 * How the HTTP destinations share the callback function, and the circuit of each. Pure.
 *
 * Only `CALLBACKS_AT_ONCE` invocations of the function run at once. A destination that answers late or never would keep
 * every invocation busy until its timeout, and events for other destinations would wait. A destination is therefore in
 * one of four phases:
 *
 * - *calm*: its events are delivered at once.
 * - *slow*, for a minute after a call took longer than `GRACE`: an invocation takes one of a few slots before it calls.
 *   A slot is a lease with an end, so the slot of a crashed invocation becomes free.
 * - *down*, after `OPEN_AFTER` calls in a row without an answer: its circuit is open, and no invocation calls it.
 * - *probing*, when the circuit has been open for its time: one invocation takes a slot and calls with one event. An
 *   answer closes the circuit; a failure opens it again for longer.
 *
 * One small row stores all of this. An invocation writes the row only if something changes; calm destinations change
 * nothing.
 */
import type { Millis, Token } from '../ids.ts';
import { MINUTE, SECOND } from '../timings.ts';

/**
 * Invocations of the callback function at once. The number is small, because a destination that was down receives all
 * waiting events as soon as it is available.
 */
export const CALLBACKS_AT_ONCE = 10;
/** A call without an answer after this time is slow. */
export const GRACE: Millis = SECOND;
/** How long a destination counts as slow after a slow call. */
export const SLOW_FOR: Millis = MINUTE;
/**
 * Most slots of one destination, and of all destinations together. The other invocations stay free for destinations
 * that answer at once.
 */
export const SLOTS = { each: 3, all: 6 } as const;
/** After this many calls in a row that found the destination down, its circuit opens. */
export const OPEN_AFTER = 5;
/**
 * How long a circuit stays open in ms: after it opened for the first time, and at most. The time doubles with each
 * failed probe.
 */
export const COOL_DOWN = { first: 30 * SECOND, most: 5 * MINUTE } as const;
/** By how much a slot's lease outlasts the timeout of a call. */
const LEASE_MARGIN: Millis = 5 * SECOND;

/** The state of a destination that is not calm, or was not calm a moment ago. */
export interface Health {
  /** Calls in a row that found the destination down. */
  readonly failures: number;
  readonly slowUntil?: Millis;
  /** Until this time the destination is not called; then it is probed. Absent while its circuit is closed. */
  readonly openUntil?: Millis;
  /** How often in a row the circuit opened. */
  readonly opened?: number;
}

/** The slot of an invocation that calls a slow destination. */
export interface SlotLease {
  readonly destination: string;
  readonly token: Token;
  readonly until: Millis;
}

export interface Share {
  /** Version of the stored row. A write replaces only the version that was read. 0 if there is no row. */
  readonly version: number;
  readonly destinations: Readonly<Record<string, Health>>;
  readonly slots: readonly SlotLease[];
}

export const NEW_SHARE: Share = { version: 0, destinations: {}, slots: [] };

export type Phase = 'calm' | 'slow' | 'down' | 'probing';

const WELL: Health = { failures: 0 };

export const healthOf = ({ destinations }: Share, name: string): Health =>
  (Object.hasOwn(destinations, name) ? destinations[name] : undefined) ?? WELL;

export const phaseOf = (share: Share, name: string, now: Millis): Phase => {
  const { slowUntil = 0, openUntil } = healthOf(share, name);
  if (openUntil !== undefined) return now < openUntil ? 'down' : 'probing';
  return now < slowUntil ? 'slow' : 'calm';
};

/** An invocation that calls one destination. */
export interface Caller {
  readonly name: string;
  readonly token: Token;
  /** How long one call may take. */
  readonly timeout: Millis;
}

/** The share after a caller has taken a slot; undefined if none is free or the circuit is open. */
export const withSlot = (share: Share, { name, token, timeout }: Caller, now: Millis): Share | undefined => {
  // The caller's own write had succeeded, but its answer was lost.
  if (share.slots.some((slot) => slot.token === token)) return share;
  const phase = phaseOf(share, name, now);
  const slots = share.slots.filter(({ until }) => until > now);
  const own = slots.filter(({ destination }) => destination === name);
  if (phase === 'down' || own.length >= SLOTS.each || slots.length >= SLOTS.all) return undefined;
  const until = now + timeout + LEASE_MARGIN;
  const lease = { destination: name, token, until };
  const health = healthOf(share, name);
  // During a probe the circuit looks open to other invocations.
  const next = phase === 'probing' ? { ...health, openUntil: until } : { ...health, slowUntil: now + SLOW_FOR };
  return { ...share, slots: [...slots, lease], destinations: { ...share.destinations, [name]: next } };
};

/** The share after a caller found a destination slow and had no slot for it. */
export const markedSlow = (share: Share, name: string, now: Millis): Share => {
  if (phaseOf(share, name, now) !== 'calm') return share;
  const health = { ...healthOf(share, name), slowUntil: now + SLOW_FOR };
  return { ...share, destinations: { ...share.destinations, [name]: health } };
};

/** The results of an invocation's calls of one destination. */
export interface Calls {
  /** Whether at least one call got an answer of any kind. */
  readonly answered: boolean;
  /** How many calls found the destination down. */
  readonly failures: number;
  /** Whether a call took longer than `GRACE`. */
  readonly wasSlow: boolean;
  /** Whether this invocation made the probe. */
  readonly isProbe: boolean;
}

/** The share after the calls, with the slot freed. The same object if nothing changes. */
export const afterCalls = (
  share: Share,
  { name, token }: Pick<Caller, 'name' | 'token'>,
  calls: Calls,
  now: Millis,
): Share => {
  const before = healthOf(share, name);
  const after = healthAfter(before, calls, now);
  const slots = share.slots.filter((slot) => slot.token !== token);
  if (after === before && slots.length === share.slots.length) return share;
  const { [name]: _, ...others } = share.destinations;
  const isWell = after.failures === 0 && after.openUntil === undefined && (after.slowUntil ?? 0) <= now;
  return { ...share, slots, destinations: isWell ? others : { ...others, [name]: after } };
};

const healthAfter = (health: Health, { answered, failures, wasSlow, isProbe }: Calls, now: Millis): Health => {
  const slow = wasSlow ? { slowUntil: now + SLOW_FOR } : {};
  if (answered) {
    if (health.failures === 0 && health.openUntil === undefined && !wasSlow) return health;
    const { openUntil: _, opened: __, ...rest } = health;
    return { ...rest, failures: 0, ...slow };
  }
  if (failures === 0) return wasSlow ? { ...health, ...slow } : health;
  const inRow = health.failures + failures;
  const isOpen = health.openUntil !== undefined;
  // Calls that began before the circuit opened must not extend it.
  if (inRow < OPEN_AFTER || (isOpen && !isProbe)) return { ...health, failures: inRow, ...slow };
  const { opened = 0 } = health;
  const coolDown = Math.min(COOL_DOWN.most, COOL_DOWN.first * 2 ** opened);
  return { ...health, failures: inRow, ...slow, opened: opened + 1, openUntil: now + coolDown };
};
