/**
 * Changes of the leases in a list's row. A lease is replaced only if it has not changed after it was read (D2 to D7).
 */
import type { Beginning, LeaseChange } from '../ports/lists.ts';
import type { Item } from '../rows/item.ts';
import { apartItem, printHolder, secondsOf } from '../rows/list-rows.ts';

/** Parts of the expressions of an update. */
export interface ChangeExpression {
  readonly set: readonly string[];
  readonly remove: readonly string[];
  readonly when: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

/**
 * Builds the change. Its names are short, because one expression covers up to forty leases and has at most 4,096 bytes.
 */
export const leaseChange = (change: Omit<LeaseChange, 'isHandingOut'>): ChangeExpression => {
  const { from, to, fresh, begins, gone: ended, apart } = change;
  const names = new Map<string, string>();
  const nameOf = (key: string): string => {
    const name = names.get(key) ?? `#${names.size}`;
    names.set(key, name);
    return name;
  };
  const values: Item = {};
  const placeOf = (value: unknown): string => {
    const name = `:${Object.keys(values).length}`;
    values[name] = value;
    return name;
  };
  const when = from.flatMap(({ key, first, count, until }) => {
    const name = nameOf(key);
    return [
      `lf.${name}=${placeOf(first)}`,
      `ln.${name}=${placeOf(count)}`,
      ...(until === undefined ? [] : [`le.${name}=${placeOf(secondsOf(until))}`]),
    ];
  });
  const kept = new Set<string>(to.map(({ key }) => key));
  const gone = from.filter(({ key }) => !kept.has(key));
  const seen = new Set<string>(from.map(({ key }) => key));
  const isNew = to.filter(({ key }) => !seen.has(key)).map(({ key }) => `attribute_not_exists(lf.${nameOf(key)})`);
  const set = to.flatMap(({ key, first, count, until }) => {
    const name = nameOf(key);
    return [`lf.${name}=${placeOf(first)}`, `ln.${name}=${placeOf(count)}`, `le.${name}=${placeOf(secondsOf(until))}`];
  });
  const asRead = apart && apartAsRead(apart);
  const leftovers = ended.flatMap(({ claim, was }) =>
    was ? [`lh.${nameOf(claim)}=${placeOf(printHolder(was))}`] : [],
  );
  const holderAsRead = begins && holderCondition(`lh.${nameOf(begins.claim)}`, begins, placeOf);
  return {
    set: [
      ...set,
      ...(fresh ? [`Head=${placeOf(fresh.head + fresh.count)}`] : []),
      ...(begins?.holder ? [`lh.${nameOf(begins.claim)}=${placeOf(printHolder(begins.holder))}`] : []),
    ],
    remove: [
      ...gone.flatMap(({ key }) => ['lf', 'ln', 'le'].map((map) => `${map}.${nameOf(key)}`)),
      ...ended.map(({ claim }) => `lh.${nameOf(claim)}`),
    ],
    when: [
      ...when,
      ...isNew,
      ...(fresh ? [`Head=${placeOf(fresh.head)}`] : []),
      ...leftovers,
      ...(holderAsRead ? [holderAsRead] : []),
      ...(asRead ? [asRead.when] : []),
    ],
    names: Object.fromEntries([...names].map(([key, name]) => [name, key])),
    values: { ...values, ...asRead?.values },
  };
};

/** The condition that the holder of a claim that begins is as it was read. @param placeOf names a value */
export const holderCondition = (path: string, { was }: Beginning, placeOf: (value: unknown) => string): string =>
  was ? `${path}=${placeOf(printHolder(was))}` : `attribute_not_exists(${path})`;

/** The condition that the claims in rows of their own are as they were read. */
export const apartAsRead = (
  apart: NonNullable<LeaseChange['apart']>,
): { readonly when: string; readonly values: Item } => {
  if (apart === 'none') return { when: 'attribute_not_exists(Apart)', values: {} };
  const { Apart, ApartUntil } = apartItem(apart);
  return {
    when: 'Apart=:seenApart AND ApartUntil=:seenUntil',
    values: { ':seenApart': Apart, ':seenUntil': ApartUntil },
  };
};

/** The change as one update expression. */
export const updateOf = (set: readonly string[], remove: readonly string[]): string =>
  [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
  ].join(' ');
