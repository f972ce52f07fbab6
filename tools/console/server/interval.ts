/**
 * How often the console asks: what it reads is paid for, and competes with the work. Pure.
 *
 * There is a purse of read units. Rounds are paid from it, and whatever else pages ask for; it fills as time goes by. A
 * round that nobody hurries comes so long after the last one that the purse fills by as much as it costs. One that is
 * wanted at once, since somebody has just done something, takes what the purse has. What a round costs is known when it
 * is over: where it was more than there was, the next one waits until that is made up for.
 */
import type { Millis } from '../../../src/domain/ids.ts';

/** What a server holds to, whatever its pages ask for. */
export interface Limits {
  /** Between the beginnings of two rounds, at the least. */
  readonly least: Millis;
  /** All pages together, in read units of DynamoDB an hour. Only the round that comes upon it may go beyond. */
  readonly readUnitsPerHourMax: number;
}

/** It costs nothing, but the machine's time: 25 units a second let a page with fifty Targets be up to date. */
export const LOCAL: Limits = { least: 2_000, readUnitsPerHourMax: 90_000 };

/**
 * Each call is an invocation, which takes a while. Ten units a second, of the 3,000 that one partition can take, for less
 * than half a cent an hour ($0.125 a million in us-east-1).
 */
export const DEPLOYED: Limits = { least: 10_000, readUnitsPerHourMax: 36_000 };

const HOUR: Millis = 3_600_000;

/** What the purse holds: so much can be asked for at once, after an hour of rest or of cheap rounds. */
const sizeOf = ({ readUnitsPerHourMax }: Limits): number => readUnitsPerHourMax / 12;

/** In units a millisecond. A full purse and what comes into it in an hour are what an hour may cost. */
const incomeOf = (limits: Limits): number => (limits.readUnitsPerHourMax - sizeOf(limits)) / HOUR;

/** So many units were there at that time; below 0 they are owed. */
export interface Purse {
  readonly units: number;
  readonly at: Millis;
}

export const fullPurse = (limits: Limits, now: Millis): Purse => ({ units: sizeOf(limits), at: now });

export const pay = (purse: Purse, units: number, limits: Limits, now: Millis): Purse => ({
  units: Math.min(sizeOf(limits), purse.units + (now - purse.at) * incomeOf(limits)) - units,
  at: now,
});

/** What is known when the next round is to be fixed. */
export interface Known {
  /** When the last one began; undefined where there was none. */
  readonly begun: Millis | undefined;
  /** What a round costs, as far as anybody knows: in read units. */
  readonly cost: number;
  readonly purse: Purse;
  /** Somebody waits for it. */
  readonly isUrgent: boolean;
}

/** When the next round begins. */
export const nextRound = ({ begun, cost, purse, isUrgent }: Known, limits: Limits, now: Millis): Millis => {
  const paidFor = purse.at + (Math.min(cost, sizeOf(limits)) - purse.units) / incomeOf(limits);
  const regular = begun === undefined || isUrgent ? now : begun + betweenRounds(cost, limits);
  return Math.ceil(Math.max(now, paidFor, regular));
};

/** Between the beginnings of two rounds that nobody hurries. */
export const betweenRounds = (cost: number, limits: Limits): Millis => Math.max(limits.least, cost / incomeOf(limits));
