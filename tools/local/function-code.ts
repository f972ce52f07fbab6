/** The code of the functions as the local stack loads it: from the sources in a clone, from the bundles in the package. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HandlerName } from '../../lib/handler-names.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { CONFIG_ASSET, OPENAPI_ASSET } from '../../src/domain/deployed/environment.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A clone runs TypeScript sources, and needs no build. The published package is compiled, and has the bundles. */
export const isClone = extname(import.meta.url) === '.ts';

const moduleOf = (name: HandlerName): string =>
  isClone ? join(ROOT, 'lambdas', `${name}.ts`) : join(ROOT, 'handlers', name, 'index.mjs');

/** Creates a folder with a function's code and the files that it reads. */
export const writeFunction = (folder: string, name: HandlerName, config: Config): void => {
  mkdirSync(folder);
  const module = pathToFileURL(moduleOf(name)).href;
  writeFileSync(join(folder, 'index.mjs'), `export * from ${JSON.stringify(module)};\n`);
  writeFileSync(join(folder, CONFIG_ASSET), JSON.stringify(config));
  if (name === 'api') copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, OPENAPI_ASSET));
};
