/** The requests and their times. They are the same in every run of the example. */

export interface Request {
  readonly id: string;
  /** Time of the request, in minutes from the start. */
  readonly at: number;
  readonly product: string;
  readonly scenes: readonly { readonly id: string }[];
}

/** The length of a window, in minutes. */
export const WINDOW = 5;

/** Requests arrive in the first half of their window, so that even a slow request still belongs to its window. */
const HALF = WINDOW / 2;

interface Asked {
  readonly product: string;
  readonly window: number;
  readonly requests: number;
  /** Numbers of the available scenes. Each request asks for consecutive scenes. */
  readonly from: number;
  readonly to: number;
  readonly least: number;
}

/** 71 requests within one window. They concern 160 scenes, and each asks for 60 to 120 of these scenes. */
export const burst = (): Request[] =>
  requestsFor([{ product: 'ndvi', window: 0, requests: 71, from: 0, to: 160, least: 60 }]);

/** Six requests for three products, within one window. */
export const scattered = (): Request[] =>
  requestsFor(
    [3, 2, 1].map((requests, n) => ({ product: PRODUCTS[n] ?? '', window: 0, requests, from: 0, to: 60, least: 20 })),
  );

/** 300 requests for three products, over five windows. Each window adds 25 newer scenes. */
export const windows = (): Request[] =>
  requestsFor(
    [0, 1, 2, 3, 4].flatMap((window) =>
      PRODUCTS.map((product) => ({
        product,
        window,
        requests: 20,
        from: 25 * window,
        to: 25 * window + 100,
        least: 30,
      })),
    ),
  );

const PRODUCTS = ['ndvi', 'albedo', 'snow'];

const requestsFor = (all: readonly Asked[]): Request[] => {
  const random = seeded(71);
  const between = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  return all
    .flatMap(({ product, window, requests, from, to, least }) =>
      Array.from({ length: requests }, (_, n): Request => {
        const size = between(least, 2 * least);
        const first = between(from, to - size);
        return {
          id: `${product}-${window}-${n}`,
          at: window * WINDOW + random() * HALF,
          product,
          scenes: Array.from({ length: size }, (_, k) => ({ id: `scene-${first + k}` })),
        };
      }),
    )
    .toSorted((a, b) => a.at - b.at);
};

/** The random generator Mulberry32, which gives the same numbers on every platform. */
const seeded = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
