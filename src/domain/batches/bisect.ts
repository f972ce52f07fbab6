/**
 * Halve a refused call until each item at fault is alone. Pure: the caller of these functions makes the calls.
 *
 * The parts of a call lie on a stack, in the order of their calls. A part is
 * - *accepted*: the part is done. If it was the first half of a part that was refused because of one item, the item at
 *   fault is in the second half. The second half is then halved without being called.
 * - *refused*: its two halves take its place. If the part has only one item, this item is at fault.
 * - *put off*, because the downstream could not take it now: the part is left for a later attempt. This result says
 *   nothing about the part's second half.
 *
 * The first half is the smaller one, and an item fails only after a call with this item alone. So one item at fault
 * among n costs at most 1 + 2·log2(n) calls, and no other item fails because of it.
 */
import type { Suspect } from '../downstream/downstream.ts';

/** A part of a call. It is never empty. */
interface Part<Item> {
  readonly items: readonly Item[];
  /** Whether this is a second half: it holds the item at fault if the first half before it is accepted. */
  readonly dependsOnFirst: boolean;
  /** Whether this part is known to hold an item at fault. */
  readonly isGuilty: boolean;
}

/** Parts, in the order of their calls. */
export type Parts<Item> = readonly Part<Item>[];

const part = <Item>(items: readonly Item[], dependsOnFirst = false): Part<Item> => ({
  items,
  dependsOnFirst,
  isGuilty: false,
});

/** Splits items into parts of at most `size`. */
export const inParts = <Item>(items: readonly Item[], size: number = items.length): Parts<Item> => {
  const count = Math.ceil(items.length / Math.max(1, size));
  return Array.from({ length: count }, (_, index) => part(items.slice(index * size, (index + 1) * size)));
};

/** Turns each group into a part. No group is empty. */
export const partsOf = <Item>(groups: readonly (readonly Item[])[]): Parts<Item> => groups.map((items) => part(items));

/** Divides a list into parts of these sizes. If the list is too short, the last parts are shorter or empty. */
export const groupsOf = <Item>(items: readonly Item[], sizes: readonly number[]): readonly (readonly Item[])[] => {
  let from = 0;
  return sizes.map((size) => {
    from += size;
    return items.slice(from - size, from);
  });
};

/** Two halves of equal size as parts, or one part if there is one item. Neither says anything about the other. */
export const halvesOf = <Item>(items: readonly Item[]): Parts<Item> => inParts(items, Math.ceil(items.length / 2));

const halves = <Item>({ items }: Part<Item>, suspect: Suspect): Parts<Item> => {
  const middle = Math.floor(items.length / 2);
  // If the call or its answer is too large, both halves may be too large, so the second half does not depend on the
  // first.
  return [part(items.slice(0, middle)), part(items.slice(middle), suspect === 'an-item')];
};

/**
 * Prepares the next call, so that the part on top is the part to call: a top part that is known to be at fault is
 * halved.
 */
export const toCall = <Item>(parts: Parts<Item>): Parts<Item> => {
  const [top, ...rest] = parts;
  return top?.isGuilty && top.items.length > 1 ? [...halves(top, 'an-item'), ...rest] : parts;
};

/**
 * The parts after the top part was refused. A refused part of one item leaves the stack, and the caller fails that
 * item.
 */
export const refused = <Item>(parts: Parts<Item>, suspect: Suspect): Parts<Item> => {
  const [top, ...rest] = parts;
  const others = withoutDependence(rest);
  return top && top.items.length > 1 ? [...halves(top, suspect), ...others] : others;
};

/** The parts after the top part was accepted. */
export const accepted = <Item>([, ...rest]: Parts<Item>): Parts<Item> => {
  const [next, ...others] = rest;
  return next?.dependsOnFirst ? [{ ...next, dependsOnFirst: false, isGuilty: true }, ...others] : rest;
};

/** The parts after the top part was put off. It leaves the stack. */
export const putOff = <Item>([, ...rest]: Parts<Item>): Parts<Item> => withoutDependence(rest);

/** The parts with only these items left in the top part. */
export const withItems = <Item>(parts: Parts<Item>, items: readonly Item[]): Parts<Item> => {
  const [top, ...rest] = parts;
  return top ? [{ ...top, items }, ...rest] : parts;
};

const withoutDependence = <Item>(parts: Parts<Item>): Parts<Item> => {
  const [next, ...others] = parts;
  return next?.dependsOnFirst ? [{ ...next, dependsOnFirst: false }, ...others] : parts;
};
