/** The positions of the stations in the flow drawing, and the lines between them. Pure. */

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<string, Place>;
  /** The lines between stations, as SVG paths. A `beside` line leaves the main flow. */
  readonly lines: readonly { readonly path: string; readonly kind: 'way' | 'beside' }[];
}

const ROWS: readonly (readonly string[])[] = [
  ['producers', 'register', 'register-function', 'waiting', 'elect', 'elect-function'],
  ['group', 'group-function', 'batch', 'batch-handler', 'downstream', 'results'],
];
const BESIDE = ['rejected', 'dead-letters'];

/**
 * Minimum width, in pixels, at which the stations stand side by side. On a narrower page they are stacked vertically.
 */
export const WIDE_FROM = 720;

export const layOut = (width: number): Drawing => (width >= WIDE_FROM ? wide(width) : narrow(width));

const HEIGHT = 82;
const GAP = 24;
const BETWEEN = 40;

const wide = (width: number): Drawing => {
  const places = new Map<string, Place>();
  const columns = ROWS[0]?.length ?? 1;
  const each = Math.floor((width - GAP * (columns - 1) - 2) / columns);
  const at = (column: number, row: number, span = 1): Place => ({
    x: 1 + column * (each + GAP),
    y: 1 + row * (HEIGHT + BETWEEN),
    width: each * span + GAP * (span - 1),
    height: HEIGHT,
  });
  ROWS.forEach((row, index) => {
    row.forEach((id, column) => {
      places.set(id, at(column, index));
    });
  });
  places.set('rejected', at(1, 2, 2));
  places.set('dead-letters', at(3, 2, 2));
  const joined = ROWS.flatMap((row) => row.slice(1).map((id, index) => across(places, row[index] ?? '', id)));
  const turn = elbow(places, 'elect-function', 'group');
  const lines = [...joined, turn].map((path) => ({ path, kind: 'way' as const }));
  return { width, height: 3 * HEIGHT + 2 * BETWEEN + 2, places, lines };
};

const place = (places: ReadonlyMap<string, Place>, id: string): Place =>
  places.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };

const across = (places: ReadonlyMap<string, Place>, from: string, to: string): string => {
  const a = place(places, from);
  const b = place(places, to);
  const y = a.y + a.height / 2;
  return `M${a.x + a.width} ${y}H${b.x - 1}`;
};

/** A line from the last station of a row to the first station of the next row. */
const elbow = (places: ReadonlyMap<string, Place>, from: string, to: string): string => {
  const a = place(places, from);
  const b = place(places, to);
  const start = a.x + a.width / 2;
  const end = b.x + b.width / 2;
  return `M${start} ${a.y + a.height}V${a.y + a.height + BETWEEN / 2}H${end}V${b.y - 1}`;
};

const LOW = 46;
const NEAR = 12;

const narrow = (width: number): Drawing => {
  const places = new Map<string, Place>();
  const way = ROWS.flat();
  [...way, ...BESIDE].forEach((id, index) => {
    const apart = BESIDE.includes(id) ? NEAR : 0;
    places.set(id, { x: 1, y: 1 + index * (LOW + NEAR) + apart, width: width - 2, height: LOW });
  });
  const lines = way.slice(1).map((id) => {
    const { y } = place(places, id);
    return { path: `M${width / 2} ${y - NEAR}V${y - 1}`, kind: 'way' as const };
  });
  return { width, height: (way.length + BESIDE.length) * (LOW + NEAR) + NEAR + 2, places, lines };
};
