/** An invented catalogue and the event that announces it. Both are the same in every run of the example. */

export interface CatalogItem {
  readonly sku: string;
  readonly department: string;
  readonly name: string;
  /** Price in cents. The index refuses items without a price. */
  readonly price?: number;
}

/** The event that asks the consumer to process a catalogue. */
export interface ProcessCatalog {
  readonly type: 'ProcessCatalog';
  readonly id: string;
  readonly items: number;
}

const DEPARTMENTS = ['books', 'garden', 'kitchen', 'music', 'sports', 'tools'];
const [NOUNS, KINDS] = [
  ['lamp', 'chair', 'atlas', 'kettle', 'saw', 'drum', 'rope', 'bowl'],
  ['small', 'large', 'blue', 'folding', 'cast-iron', 'second-hand'],
];
/** One in every 2,500 items has no price. */
const BROKEN = 2_500;

export const isBroken = (n: number): boolean => n % BROKEN === BROKEN / 2;

/**
 * Generates the items of a catalogue, ordered by department as in real catalogues.
 * @param count number of items
 */
export function* catalog(count: number): Generator<CatalogItem> {
  for (let n = 0; n < count; n += 1)
    yield {
      sku: `sku-${n}`,
      department: DEPARTMENTS[Math.floor((n * DEPARTMENTS.length) / count)] as string,
      name: `${KINDS[n % KINDS.length]} ${NOUNS[n % NOUNS.length]}`,
      ...(isBroken(n) ? {} : { price: 100 + ((n * 7_919) % 90_000) }),
    };
}
