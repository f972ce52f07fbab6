/** The code of each function, together with the configuration. */
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { Config } from '../src/domain/config/resolved.ts';
import { CONFIG_ASSET } from '../src/domain/deployed/environment.ts';
import { HANDLERS, type HandlerName } from './handler-names.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type { HandlerName } from './handler-names.ts';

/** Creates the code of a function. */
export type HandlerCode = (name: HandlerName, config: Config) => Code;

/** The folder with the bundled functions, which only the published package has. */
const PREBUILT = join(dirname(dirname(fileURLToPath(import.meta.url))), 'handlers');

/** The folder of the bundles, to which no configuration was added. Set after the first use. */
let bundles: string | undefined;

/** For each configuration that this process deploys, the folder of the bundles with that configuration. */
const folders = new Map<string, string>();

/**
 * The code of a function. The same sources and configuration produce the same bytes, so that an unchanged function is
 * not deployed again.
 */
export const bundledCode: HandlerCode = (name, config) => {
  const text = JSON.stringify(config);
  const folder = folders.get(text) ?? withConfig(text);
  folders.set(text, folder);
  return Code.fromAsset(join(folder, name));
};

const withConfig = (config: string): string => {
  const folder = temporaryFolder('bundles');
  bundles ??= existsSync(PREBUILT) ? PREBUILT : bundledSources();
  cpSync(bundles, folder, { recursive: true });
  for (const name of HANDLERS) writeFileSync(join(folder, name, CONFIG_ASSET), config);
  return folder;
};

/**
 * Bundles the sources. The bundler is loaded only here, because the published package contains neither sources nor a
 * bundler.
 */
const bundledSources = (): string => {
  const folder = temporaryFolder('handlers');
  const require = createRequire(import.meta.url);
  const { bundleHandlers } = require('./handler-bundles.ts') as { bundleHandlers(folder: string): void };
  bundleHandlers(folder);
  return folder;
};
