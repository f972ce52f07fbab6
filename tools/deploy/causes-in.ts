/** Reads why an operation on a stack failed. */

import { reasonOf } from '../../src/util/problems.ts';
import { type Account, eventsSince, validationErrorsSince } from '../account/stacks.ts';
import { causesOf, invalidOf } from './cause.ts';

/** As far as this machine's clock may be wrong: AWS refuses requests of one that is further off. */
const CLOCK_SKEW = 300_000;

/** Never fails: what failed must be cleaned up all the same. @param id the stack's ARN. @param from when the operation was started, by this machine's clock. */
export const causesIn = async (account: Account, id: string, from: number): Promise<string[]> => {
  try {
    const invalid = invalidOf(await validationErrorsSince(account, id, from - CLOCK_SKEW));
    return invalid.length > 0 ? invalid : causesOf(await eventsSince(account, id, from - CLOCK_SKEW));
  } catch (cause) {
    return [`why could not be read (${reasonOf(cause)})`];
  }
};
