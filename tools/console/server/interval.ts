/**
 * How often the console calls the API. Its reads cost money and use capacity of the tables that tasks need too.
 * Pure.
 *
 * The budget is a token bucket of read units (a purse). Rounds and all other calls of pages are paid from it, and it
 * refills over time. A regular round starts when the purse has refilled by the cost of the last one. An urgent round,
 * after a user's action, starts as soon as the purse covers it. The cost of a round is known only when it has ended. If
 * a round cost more than the purse held, the next round waits until the debt is paid.
 */
import type { Millis } from '../../../src/domain/ids.ts';

/** The limits of one server, whatever its pages request. */
export interface Limits {
  /** The shortest time between the starts of two rounds. */
  readonly least: Millis;
  /**
   * The limit of all pages together, in DynamoDB read units an hour. Only the round in progress when the limit is
   * reached may exceed it.
   */
  readonly readUnitsPerHourMax: number;
}

/** A local stack costs only CPU time. 25 units a second keep a page with fifty Targets up to date. */
export const LOCAL: Limits = { least: 2_000, readUnitsPerHourMax: 90_000 };

/**
 * Each call invokes a function, which takes time. The limit is ten units a second, of the 3,000 that one partition can
 * serve. That is less than half a cent an hour ($0.125 a million in us-east-1).
 */
export const DEPLOYED: Limits = { least: 10_000, readUnitsPerHourMax: 36_000 };

const HOUR: Millis = 3_600_000;

/** The capacity of the purse: the read units that can be spent at once after an hour without or with cheap rounds. */
const sizeOf = ({ readUnitsPerHourMax }: Limits): number => readUnitsPerHourMax / 12;

/** In read units per millisecond. A full purse plus the income of an hour equals the limit of an hour. */
const incomeOf = (limits: Limits): number => (limits.readUnitsPerHourMax - sizeOf(limits)) / HOUR;

/** The balance at a given time. Negative units are a debt. */
export interface Purse {
  readonly units: number;
  readonly at: Millis;
}

export const fullPurse = (limits: Limits, now: Millis): Purse => ({ units: sizeOf(limits), at: now });

export const pay = (purse: Purse, units: number, limits: Limits, now: Millis): Purse => ({
  units: Math.min(sizeOf(limits), purse.units + (now - purse.at) * incomeOf(limits)) - units,
  at: now,
});

/** The input for the start of the next round. */
export interface Known {
  /** When the last round began. Undefined before the first round. */
  readonly begun: Millis | undefined;
  /** The estimated cost of a round, in read units. */
  readonly cost: number;
  readonly purse: Purse;
  /** A page waits for the round. */
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
