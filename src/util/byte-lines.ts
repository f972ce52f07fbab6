/** Splits a stream of bytes into lines. */

/**
 * The lines of a stream. `readline` is not used, because it also ends a line at the character U+2028, which a JSON
 * string may contain. The lines are bytes, so that one line with invalid text does not affect the others.
 */
export async function* linesIn(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]);
      begun = [];
      from = end + 1;
    }
    begun.push(chunk.subarray(from));
  }
  yield Buffer.concat(begun);
}

/** In UTF-8 this byte is not part of any other character. */
const LINE_FEED = 0x0a;
