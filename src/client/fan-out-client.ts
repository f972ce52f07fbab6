/** The client for fan-outs. A function that is passed in carries its requests. */
import type { FailFast } from '../domain/fan-outs/fan-out.ts';
import { type Ask, notAllAdded } from './ask.ts';
import {
  type Acked,
  type AddedGroup,
  ackInCalls,
  addInCalls,
  type DoneItem,
  isTokenOfCalls,
  itemsOf,
  pathOf,
  TOKEN_OF_CALLS_RULE,
} from './fan-out-calls.ts';

/** A fan-out to open. */
export interface FanOutToOpen {
  /**
   * 1 to 64 characters of A-Z a-z 0-9 . _ @ -. Generated if absent. If the same fan-out exists already, it is opened
   * again.
   */
  readonly id?: string;
  /** The caller's own key for the fan-out: shown with it, and part of its callback. 1 to 256 bytes. */
  readonly userKey?: string;
  /**
   * The configured destination that gets the callback when the fan-out completes.
   * @default - the configuration's, if it has one
   */
  readonly callback?: string;
  /**
   * Completes the fan-out early if more items fail than this number (0 to 100), or than this share of all items (0 to
   * 1).
   */
  readonly failFast?: FailFast;
}

/** Options of {@link OpenFanOut.add}. */
export interface AddOptions {
  /**
   * Token of the addition: 1 to 48 characters. A repeated addition with the same token and count, for example after a
   * crash, returns the same items. Generated if absent.
   */
  readonly token?: string;
}

/** An open fan-out. */
export interface OpenFanOut {
  readonly id: string;
  /**
   * Adds items and returns their ids, in order. Acks of items in one group are cheap together, so give ids that follow
   * each other to consecutive tasks. Items are added 45,000 at a time, when the loop over the ids gets there. A loop
   * that is left early has added all items of its current 45,000, and each of them must be acked.
   *
   * @param count number of items, from 1
   * @throws RangeError for an invalid count or token; ApiRefused (409 once the fan-out is sealed); NotAllAdded once an
   * item may have been added. NotAllAdded has the token; the same addition with that token returns the same items.
   */
  add(count: number, options?: AddOptions): AsyncIterable<string>;
  /**
   * Seals the fan-out: no more items can be added. A repeated seal does no harm.
   *
   * @returns whether the fan-out is complete already
   * @throws ApiRefused, ApiUnavailable
   */
  seal(): Promise<{ readonly complete: boolean }>;
}

/** Options of {@link FanOutClient.ack}. */
export interface AckOptions {
  /** Called with the number of items acked so far. */
  readonly onProgress?: (acked: number) => void;
}

/** A client for fan-outs. Made by `createFanOutClient`. */
export interface FanOutClient {
  /**
   * Opens a fan-out.
   * @throws ApiRefused (409: another fan-out has this id), ApiUnavailable
   */
  openFanOut(fields?: FanOutToOpen): Promise<OpenFanOut>;
  /**
   * A fan-out that was opened before, for example by another process. This sends no request, so it does not check that
   * the fan-out exists.
   */
  fanOut(id: string): OpenFanOut;
  /**
   * Acks finished items: any number, of any fan-outs, in any order, also repeatedly. Items of one group that are within
   * 10,000 of each other are acked together.
   *
   * After the first failure no further call is made, and calls in flight are awaited.
   *
   * @throws NotAllAcked once an item may have been acked; it has the items that are left. Before that: MalformedItem,
   * ApiRefused, ApiUnavailable, or an error of the iterable. Any item can be acked again.
   */
  ack(items: Iterable<DoneItem> | AsyncIterable<DoneItem>, options?: AckOptions): Promise<Acked>;
}

/**
 * A client whose requests `ask` carries.
 * @param newId generates ids and tokens that the caller leaves out
 */
export const fanOutsBy = (ask: Ask, newId: () => string): FanOutClient => {
  const fanOut = (id: string): OpenFanOut => ({
    id,
    add: (count, { token = newId() } = {}) => {
      if (!Number.isSafeInteger(count) || count < 1)
        throw new RangeError(`the number of items to add must be a whole number from 1, not ${count}`);
      if (!isTokenOfCalls(token)) throw new RangeError(`a token must be ${TOKEN_OF_CALLS_RULE}`);
      return itemsOf(id, orSayToken(token, addInCalls(ask, id, count, token)));
    },
    seal: async () => (await ask(`${pathOf(id)}/seal`, {})) as { complete: boolean },
  });
  return {
    // The client generates the id, so that the call can be repeated if its answer is lost.
    openFanOut: async ({ id = newId(), ...fields } = {}) => {
      await ask('/fan-outs', { id, ...fields }, { name: id });
      return fanOut(id);
    },
    fanOut,
    ack: (items, { onProgress } = {}) => ackInCalls(ask, items, onProgress),
  };
};

/**
 * Passes on what the calls add; an error brings the token.
 * @throws NotAllAdded
 */
async function* orSayToken(
  token: string,
  calls: AsyncIterable<readonly AddedGroup[]>,
): AsyncGenerator<readonly AddedGroup[]> {
  let added = 0;
  try {
    for await (const groups of calls) {
      added += groups.reduce((sum, { count }) => sum + count, 0);
      yield groups;
    }
  } catch (cause) {
    throw notAllAdded(token, added, cause);
  }
}
