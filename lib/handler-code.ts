/** The λs' code, each with the configuration beside it. */
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

/** Makes the code of a λ. */
export type HandlerCode = (name: HandlerName, config: Config) => Code;

/** The published package has the λs' code ready. */
const PREBUILT = join(dirname(dirname(fileURLToPath(import.meta.url))), 'handlers');

/** The bundles as they are for any configuration. */
let bundles: string | undefined;

/** A folder of bundles for each configuration that this process deploys. */
const folders = new Map<string, string>();

/** A λ's code. The same sources and configuration give the same bytes, so that nothing is deployed without a change. */
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

/** Loaded only where there are sources: the published package has neither them nor a bundler. */
const bundledSources = (): string => {
  const folder = temporaryFolder('handlers');
  const require = createRequire(import.meta.url);
  const { bundleHandlers } = require('./handler-bundles.ts') as { bundleHandlers(folder: string): void };
  bundleHandlers(folder);
  return folder;
};
