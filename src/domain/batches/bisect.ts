/**
 * Halve a call that was refused as a whole until the items at fault are alone: pure, the calls are somebody else's.
 *
 * The parts of a call lie on a stack, in the order of their calls. A part is
 * - *accepted*: it is done. If it was the first half of a part that was refused for one of its items, that item is in
 *   the second half, which is then halved without being called;
 * - *refused*: its halves take its place; a part of one item has found its fault;
 * - *put off* (nobody could take it now): it is done for this time, and says nothing about its second half.
 * The first half is the smaller one, and one item is always called before it fails: one at fault among n costs at most
 * 1 + 2·log2(n) calls, and no innocent one fails.
 */
import type { Suspect } from '../downstream/downstream.ts';

/** A part of a call, not empty. */
interface Part<Item> {
  readonly items: readonly Item[];
  /** It holds the item at fault if the part before it, its first half, is accepted. */
  readonly dependsOnFirst: boolean;
  /** It holds an item at fault. */
  readonly isGuilty: boolean;
}

/** Parts in the order of their calls. */
export type Parts<Item> = readonly Part<Item>[];

const part = <Item>(items: readonly Item[], dependsOnFirst = false): Part<Item> => ({
  items,
  dependsOnFirst,
  isGuilty: false,
});

/** Items in parts of at most `size`. */
export const inParts = <Item>(items: readonly Item[], size: number = items.length): Parts<Item> => {
  const count = Math.ceil(items.length / Math.max(1, size));
  return Array.from({ length: count }, (_, index) => part(items.slice(index * size, (index + 1) * size)));
};

/** A part for each group, none of which is empty. */
export const partsOf = <Item>(groups: readonly (readonly Item[])[]): Parts<Item> => groups.map((items) => part(items));

const halves = <Item>({ items }: Part<Item>, suspect: Suspect): Parts<Item> => {
  const middle = Math.floor(items.length / 2);
  // Both halves may be too large, or their answers.
  return [part(items.slice(0, middle)), part(items.slice(middle), suspect === 'an-item')];
};

/** With a part on top that has to be called. */
export const toCall = <Item>(parts: Parts<Item>): Parts<Item> => {
  const [top, ...rest] = parts;
  return top?.isGuilty && top.items.length > 1 ? [...halves(top, 'an-item'), ...rest] : parts;
};

/** The top part is refused. A part of one item is not on the stack any more: it has to fail. */
export const refused = <Item>(parts: Parts<Item>, suspect: Suspect): Parts<Item> => {
  const [top, ...rest] = parts;
  const others = withoutDependence(rest);
  return top && top.items.length > 1 ? [...halves(top, suspect), ...others] : others;
};

/** The top part is accepted. */
export const accepted = <Item>([, ...rest]: Parts<Item>): Parts<Item> => {
  const [next, ...others] = rest;
  return next?.dependsOnFirst ? [{ ...next, dependsOnFirst: false, isGuilty: true }, ...others] : rest;
};

/** The top part is put off. */
export const putOff = <Item>([, ...rest]: Parts<Item>): Parts<Item> => withoutDependence(rest);

/** The top part has only these items left. */
export const withItems = <Item>(parts: Parts<Item>, items: readonly Item[]): Parts<Item> => {
  const [top, ...rest] = parts;
  return top ? [{ ...top, items }, ...rest] : parts;
};

const withoutDependence = <Item>(parts: Parts<Item>): Parts<Item> => {
  const [next, ...others] = parts;
  return next?.dependsOnFirst ? [{ ...next, dependsOnFirst: false }, ...others] : parts;
};
