/** Lines of what is read in pieces. */

/**
 * Not by `readline`: for that U+2028 ends a line too, and in the middle of a JSON string what follows may be JSON. As
 * bytes, since one line that is no text costs the others nothing.
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

/** In UTF-8 it is no part of any other character. */
const LINE_FEED = 0x0a;
