/** What a client of fan-outs does, however its requests are carried. */
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

export interface FanOutToOpen {
  /** 1 to 64 characters of A-Z a-z 0-9 . _ @ -. Made up if absent. One that is there already, and is the same, is opened again. */
  readonly id?: string;
  /** What it is about: shown with it, told at its end. 1 to 256 bytes. */
  readonly userKey?: string;
  /** The configured destination that is told of its end. @default - the configuration's, if it has one */
  readonly callback?: string;
  /** More failed items than this number (0 to 100), or than this share of all (0 to 1), complete it early. */
  readonly failFast?: FailFast;
}

export interface AddOptions {
  /**
   * Names the addition, in 1 to 48 characters: who adds again with the same token and count, after a crash say, gets the
   * same items. Made up if absent.
   */
  readonly token?: string;
}

/** A fan-out that is open. */
export interface OpenFanOut {
  readonly id: string;
  /**
   * Adds items, and gives their ids, in order: those that come one after the other belong to consecutive tasks, since acks
   * of one group are cheap together. The ids are derived, and items are added 45,000 at a time as the loop gets there: a
   * loop that is left early has added those up to the end of its 45,000, and each of them has to be acked.
   *
   * @param count from 1
   * @throws RangeError, ApiRefused (409 once it is sealed); NotAllAdded once an item was added, or may have been: it has
   * the token with which the same addition gives the same items.
   */
  add(count: number, options?: AddOptions): AsyncIterable<string>;
  /**
   * Nothing is added any more. Again is harmless.
   *
   * @returns whether it is complete already.
   * @throws ApiRefused, ApiUnavailable
   */
  seal(): Promise<{ readonly complete: boolean }>;
}

export interface AckOptions {
  /** Is told how many items have been acked so far. */
  readonly onProgress?: (acked: number) => void;
}

export interface FanOutClient {
  /** Opens a fan-out. @throws ApiRefused (409: another one has its id), ApiUnavailable */
  openFanOut(fields?: FanOutToOpen): Promise<OpenFanOut>;
  /** One that was opened before, elsewhere say; nobody is asked whether it is there. */
  fanOut(id: string): OpenFanOut;
  /**
   * Items are done: any number of them, of any fan-outs, in any order, more than once. Those of a group that come near each
   * other (within 10,000) are acked together.
   *
   * After the first failure no further call is made; those under way are waited for.
   *
   * @throws NotAllAcked once an item was acked, or may have been: it has the items that are left. Before that:
   * MalformedItem, ApiRefused, what the iterable throws. Any item can be acked again.
   */
  ack(items: Iterable<DoneItem> | AsyncIterable<DoneItem>, options?: AckOptions): Promise<Acked>;
}

/** A client whose requests `ask` carries. @param newId names what its caller did not */
export const fanOutsBy = (ask: Ask, newId: () => string): FanOutClient => {
  const fanOut = (id: string): OpenFanOut => ({
    id,
    add: (count, { token = newId() } = {}) => {
      if (!Number.isSafeInteger(count) || count < 1)
        throw new RangeError(`add takes a whole number from 1, not ${count}`);
      if (!isTokenOfCalls(token)) throw new RangeError(`a token is ${TOKEN_OF_CALLS_RULE}`);
      return itemsOf(id, orSayToken(token, addInCalls(ask, id, count, token)));
    },
    seal: async () => (await ask(`${pathOf(id)}/seal`, {})) as { complete: boolean },
  });
  return {
    // Named here, so that a lost answer can be asked for again.
    openFanOut: async ({ id = newId(), ...fields } = {}) => {
      await ask('/fan-outs', { id, ...fields }, { name: id });
      return fanOut(id);
    },
    fanOut,
    ack: (items, { onProgress } = {}) => ackInCalls(ask, items, onProgress),
  };
};

/** What some calls add. @throws NotAllAdded */
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
