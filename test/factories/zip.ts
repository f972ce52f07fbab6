/** A zip file with one uncompressed file: the form in which Lambda accepts a function's code. */
import { crc32 } from 'node:zlib';

const words = (...parts: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer =>
  Buffer.concat(
    parts.map(([bytes, value]) => {
      const part = Buffer.alloc(bytes);
      part.writeUIntLE(value, 0, bytes);
      return part;
    }),
  );

export const zipOf = (name: string, text: string): Buffer => {
  const [file, content] = [Buffer.from(name), Buffer.from(text)];
  // Dated 1980-01-01 and uncompressed, so both sizes are equal.
  const described = words(
    [2, 20],
    [2, 0],
    [2, 0],
    [2, 0],
    [2, 33],
    [4, crc32(content)],
    [4, content.length],
    [4, content.length],
    [2, file.length],
    [2, 0],
  );
  const local = Buffer.concat([words([4, 0x04034b50]), described, file, content]);
  const attributes = words([2, 0], [2, 0], [2, 0], [4, 0o100644 * 2 ** 16], [4, 0]);
  const entry = Buffer.concat([words([4, 0x02014b50], [2, 0x0314]), described, attributes, file]);
  const end = words([4, 0x06054b50], [2, 0], [2, 0], [2, 1], [2, 1], [4, entry.length], [4, local.length], [2, 0]);
  return Buffer.concat([local, entry, end]);
};
