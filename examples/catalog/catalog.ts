/** The catalogue, made up, and the event that says that it is there: the same at every run. */

export interface CatalogItem {
  readonly sku: string;
  readonly department: string;
  readonly name: string;
  /** Cents. A few have none, which the index does not take. */
  readonly price?: number;
}

/** What somebody puts on a queue when a catalogue is to be processed. */
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
/** One item in so many has no price. */
const BROKEN = 2_500;

export const isBroken = (n: number): boolean => n % BROKEN === BROKEN / 2;

/** @param count how many items it has, department by department, as catalogues are */
export function* catalog(count: number): Generator<CatalogItem> {
  for (let n = 0; n < count; n += 1)
    yield {
      sku: `sku-${n}`,
      department: DEPARTMENTS[Math.floor((n * DEPARTMENTS.length) / count)] as string,
      name: `${KINDS[n % KINDS.length]} ${NOUNS[n % NOUNS.length]}`,
      ...(isBroken(n) ? {} : { price: 100 + ((n * 7_919) % 90_000) }),
    };
}
