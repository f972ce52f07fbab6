/** The keys of items' tokens. The key of a fan-out never changes, so each function reads it once. */
import type { FanOutId } from '../../domain/fan-out-ids.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** The key of a fan-out, undefined if it has none. A fan-out that does not exist is missing in the map. */
export type KeysOf = ReadonlyMap<FanOutId, { readonly itemKey?: string }>;

export interface ItemKeys {
  /** Reads the keys that are not remembered. */
  of(ids: Iterable<FanOutId>): Promise<KeysOf>;
  /** Reads the keys again: an id may be used again after its fan-out was deleted, and the new fan-out has another key. */
  again(ids: Iterable<FanOutId>): Promise<KeysOf>;
}

/** About 2 MB. */
const REMEMBERED = 10_000;

export const rememberedItemKeys = (fanOuts: Pick<FanOuts, 'itemKeys'>, most = REMEMBERED): ItemKeys => {
  const known = new Map<FanOutId, { readonly itemKey?: string }>();
  const again: ItemKeys['again'] = async (ids) => {
    const asked = [...new Set(ids)];
    if (asked.length === 0) return new Map();
    const read = await fanOuts.itemKeys(asked);
    for (const id of asked) known.delete(id);
    for (const [id, { itemKey }] of read) known.set(id, itemKey === undefined ? {} : { itemKey });
    // A Map keeps the order of insertion, so the keys that were read first are forgotten first.
    for (const id of known.keys()) {
      if (known.size <= most) break;
      known.delete(id);
    }
    return read;
  };
  return {
    again,
    of: async (ids) => {
      const asked = [...new Set(ids)];
      const remembered = asked.flatMap((id) => {
        const key = known.get(id);
        return key ? [[id, key] as const] : [];
      });
      const read = await again(asked.filter((id) => !known.has(id)));
      return new Map([...remembered, ...read]);
    },
  };
};
