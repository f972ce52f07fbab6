const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Every character that a terminal would act upon: C0, DEL and C1, the ends of lines, the directions of reading. */
export const ACTED_UPON = String.fromCodePoint(
  ...from(0x00, 0x1f),
  ...from(0x7f, 0x9f),
  ...[0x061c, 0x200e, 0x200f, 0x2028, 0x2029],
  ...from(0x202a, 0x202e),
  ...from(0x2066, 0x2069),
);

/** Those of them that a text has, but for what makes lines and columns. */
export const actedUponIn = (text: string): string[] =>
  [...text].filter((character) => ACTED_UPON.includes(character) && !'\n\r\t'.includes(character));
