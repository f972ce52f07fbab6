/**
 * The keys of items' tokens. A fan-out keeps its key, so each function remembers it. If a deleted fan-out's id is used
 * again, the old key counts in a function until it meets a token that does not fit.
 */
import type { FanOutId } from '../../domain/fan-out-ids.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** The key of a fan-out, undefined if it has none. A fan-out that does not exist is missing in the map. */
export type KeysOf = ReadonlyMap<FanOutId, { readonly itemKey?: string }>;

export interface ItemKeys {
  readonly remembered: KeysOf;
  /** Reads and remembers keys. */
  read(ids: Iterable<FanOutId>): Promise<KeysOf>;
}

/** About 2 MB. */
const REMEMBERED = 10_000;

export const rememberedItemKeys = (fanOuts: Pick<FanOuts, 'itemKeys'>, most = REMEMBERED): ItemKeys => {
  const remembered = new Map<FanOutId, { readonly itemKey?: string }>();
  return {
    remembered,
    read: async (ids) => {
      const asked = [...new Set(ids)];
      if (asked.length === 0) return new Map();
      const read = await fanOuts.itemKeys(asked);
      for (const id of asked) remembered.delete(id);
      for (const [id, { itemKey }] of read) remembered.set(id, itemKey === undefined ? {} : { itemKey });
      // A Map keeps the order of insertion, so the keys that were read first are forgotten first.
      for (const id of remembered.keys()) {
        if (remembered.size <= most) break;
        remembered.delete(id);
      }
      return read;
    },
  };
};
