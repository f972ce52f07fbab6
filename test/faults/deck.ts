/** A random choice that leaves nothing out: cards in random order, shuffled again when all have been drawn. */
import type { Random } from '../../src/virtual/random.ts';

/** @returns a function that draws the next card. As many draws as there are cards give each card once. */
export const shuffled = <Card>(random: Random, cards: readonly Card[]): (() => Card) => {
  let left: Card[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    return left.splice(random.int(0, left.length - 1), 1)[0] as Card;
  };
};

/** Cards of which some are marked. */
export const cards = <Mark>(marks: readonly Mark[], unmarked: number): readonly (Mark | undefined)[] => [
  ...marks,
  ...Array.from({ length: unmarked }, () => undefined),
];
