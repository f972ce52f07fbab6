/**
 * Decides how often the console calls the API. The API's reads cost money and use capacity of the tables, which tasks
 * need too. Pure.
 *
 * The budget is a token bucket of read units (the purse), which refills over time. All calls for pages are paid from
 * the purse, in rounds and outside of rounds. A regular round starts when the purse has refilled by the cost of the
 * last round. An urgent round, for example after a user's action, starts as soon as the purse covers its cost. The cost of a round
 * is known only when the round has ended. If the round cost more than the purse held, the next round waits until the
 * debt is paid.
 */
import type { Millis } from '../../../src/domain/ids.ts';

/** The limits of one console server. They apply whatever its pages request. */
export interface Limits {
  /** The shortest time between the starts of two rounds. */
  readonly least: Millis;
  /**
   * Maximum number of DynamoDB read units an hour, for all pages together. Only the round that is in progress when the
   * limit is reached may exceed the limit.
   */
  readonly readUnitsPerHourMax: number;
}

/**
 * Limits for a local stack, where a call costs only CPU time. 25 read units a second keep a page with fifty Targets up
 * to date.
 */
export const LOCAL: Limits = { least: 2_000, readUnitsPerHourMax: 90_000 };

/**
 * Limits for a deployed stack, where each call invokes a function, which takes time. Ten read units a second are
 * little, because one partition can serve 3,000. They cost less than half a cent an hour ($0.125 a million in
 * us-east-1).
 */
export const DEPLOYED: Limits = { least: 10_000, readUnitsPerHourMax: 36_000 };

const HOUR: Millis = 3_600_000;

/** The capacity of the purse: the number of read units that can be spent at once after a quiet hour. */
const sizeOf = ({ readUnitsPerHourMax }: Limits): number => readUnitsPerHourMax / 12;

/**
 * The number of read units by which the purse refills each millisecond. If the purse is full at the start of an hour,
 * its content and the refill of the hour together equal the hourly limit.
 */
const incomeOf = (limits: Limits): number => (limits.readUnitsPerHourMax - sizeOf(limits)) / HOUR;

/** The balance of the budget at a given time. A negative number of units is a debt. */
export interface Purse {
  readonly units: number;
  readonly at: Millis;
}

export const fullPurse = (limits: Limits, now: Millis): Purse => ({ units: sizeOf(limits), at: now });

export const pay = (purse: Purse, units: number, limits: Limits, now: Millis): Purse => ({
  units: Math.min(sizeOf(limits), purse.units + (now - purse.at) * incomeOf(limits)) - units,
  at: now,
});

/** The facts that determine the start of the next round. */
export interface Known {
  /** When the last round began. Undefined before the first round. */
  readonly begun: Millis | undefined;
  /** The estimated cost of a round, in read units. */
  readonly cost: number;
  readonly purse: Purse;
  /** Whether a page waits for the round. */
  readonly isUrgent: boolean;
}

/** When the next round begins. */
export const nextRound = ({ begun, cost, purse, isUrgent }: Known, limits: Limits, now: Millis): Millis => {
  const paidFor = purse.at + (Math.min(cost, sizeOf(limits)) - purse.units) / incomeOf(limits);
  const regular = begun === undefined || isUrgent ? now : begun + betweenRounds(cost, limits);
  return Math.ceil(Math.max(now, paidFor, regular));
};

/** The time between the starts of two regular rounds. */
export const betweenRounds = (cost: number, limits: Limits): Millis => Math.max(limits.least, cost / incomeOf(limits));
