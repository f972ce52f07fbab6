/** Suggests a known name for a mistyped key. */

/** The name in `known` that is at most two edits from `word`, if any. */
export const nearest = (word: string, known: readonly string[]): string | undefined =>
  known
    .map((each) => ({ each, distance: edits(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance)[0]?.each;

/** The Levenshtein distance, computed row by row. */
const edits = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[b.length] ?? 0;
};
