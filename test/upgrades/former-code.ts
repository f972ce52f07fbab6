/** The code of a former release, packed by write-code.ts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const packedAt = (release: string): string => join(import.meta.dirname, 'fixtures', release, 'code.mjs.br');

export const packCode = (release: string, code: string): void => {
  mkdirSync(join(packedAt(release), '..'), { recursive: true });
  writeFileSync(packedAt(release), brotliCompressSync(code));
};
