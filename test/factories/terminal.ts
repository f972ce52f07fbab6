const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n);

/** Every character that a terminal interprets: C0, DEL, C1, line ends and reading directions. */
export const ACTED_UPON = String.fromCodePoint(
  ...from(0x00, 0x1f),
  ...from(0x7f, 0x9f),
  ...[0x061c, 0x200e, 0x200f, 0x2028, 0x2029],
  ...from(0x202a, 0x202e),
  ...from(0x2066, 0x2069),
);

/** The interpreted characters of a text, except those for lines and columns. */
export const actedUponIn = (text: string): string[] =>
  [...text].filter((character) => ACTED_UPON.includes(character) && !'\n\r\t'.includes(character));
