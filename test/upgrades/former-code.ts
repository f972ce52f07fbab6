/** The functions of an earlier release, packed by write-code.ts. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import type { HandlerName } from '../../lib/handler-names.ts';
import type { HandlerModule } from '../../tools/local/functions.ts';

/** The functions that receive messages, or that a schedule starts. */
export type FormerHandler = Exclude<HandlerName, 'api'>;
export type FormerCode = Readonly<Record<FormerHandler, HandlerModule['compose']>>;

const packedAt = (release: string): string => join(import.meta.dirname, 'fixtures', release, 'code.mjs.br');

export const packCode = (release: string, code: string): void => {
  mkdirSync(join(packedAt(release), '..'), { recursive: true });
  writeFileSync(packedAt(release), brotliCompressSync(code));
};

/** Loads the code from a folder within this repository, so that it finds the AWS SDK. */
export const formerCode = async (release: string): Promise<FormerCode> => {
  const folder = join(import.meta.dirname, '../../.cache/former-code');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${release}.mjs`);
  writeFileSync(file, brotliDecompressSync(readFileSync(packedAt(release))));
  const { functions } = (await import(pathToFileURL(file).href)) as { functions: FormerCode };
  return functions;
};
