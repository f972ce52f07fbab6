/** The client for fan-outs. The function that sends its requests is passed in. */
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
   * Id of the fan-out: 1 to 64 characters of A-Z a-z 0-9 . _ @ -. Generated if absent. If the same fan-out exists
   * already, that fan-out is opened again.
   */
  readonly id?: string;
  /**
   * The caller's own key for the fan-out: 1 to 256 bytes. The API shows it with the fan-out, and the callback contains
   * it.
   */
  readonly userKey?: string;
  /**
   * The configured destination that gets the callback when the fan-out completes. @default - the destination that the
   * configuration names, if any
   */
  readonly callback?: string;
  /**
   * Completes the fan-out early if more items fail than this number (0 to 100), or than this share of all items (0 to
   * 1).
   */
  readonly failFast?: FailFast;
  /** Whether an event names a failed item as soon as one has failed. @default false */
  readonly notifyFirstFailure?: boolean;
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
   * Adds items and returns their ids, in order. Acks of items in one group are cheap together, so give consecutive ids
   * to consecutive tasks. Items are added 45,000 at a time, each time when the loop over the ids needs more ids. If you
   * leave the loop early, all items of the current 45,000 have been added, and each of them must be acked.
   *
   * @param count number of items, from 1
   * @throws RangeError for an invalid count or token; ApiRefused (409 after the fan-out was sealed); NotAllAdded if an
   * item may have been added. NotAllAdded has the token; the same addition with that token returns the same items.
   */
  add(count: number, options?: AddOptions): AsyncIterable<string>;
  /**
   * Seals the fan-out: no more items can be added. Sealing again does no harm.
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
   * Returns a fan-out that was opened before, for example by another process. Sends no request, so it does not check
   * that the fan-out exists.
   */
  fanOut(id: string): OpenFanOut;
  /**
   * Acks finished items. The items may be any number, belong to several fan-outs, have any order, and be acked
   * repeatedly. Items of one group that are at most 10,000 items apart are acked together.
   *
   * After the first failure no further call is made, and calls in flight are awaited.
   *
   * @throws NotAllAcked if an item may have been acked; it has the items that are left. Otherwise MalformedItem,
   * ApiRefused, ApiUnavailable, or an error of the iterable. Any item can be acked again.
   */
  ack(items: Iterable<DoneItem> | AsyncIterable<DoneItem>, options?: AckOptions): Promise<Acked>;
}

/**
 * Creates a client for fan-outs.
 * @param ask sends the requests
 * @param newId generates ids and tokens that the caller omits
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
    // The client generates the id, so that it can repeat the call if the answer is lost.
    openFanOut: async ({ id = newId(), ...fields } = {}) => {
      await ask('/fan-outs', { id, ...fields }, { name: id });
      return fanOut(id);
    },
    fanOut,
    ack: (items, { onProgress } = {}) => ackInCalls(ask, items, onProgress),
  };
};

/**
 * Yields the items that the calls add. An error contains the token.
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
