/** The λs' code: bundled together, since they share most of it, and each with the configuration beside it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import type { Config } from '../src/config/resolved.ts';
import { CONFIG_ASSET } from '../src/environment.ts';
import { temporaryFolder } from '../src/temporary-folder.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUTPUT = join(ROOT, 'bundles');

/** The entries, named as their files. */
const HANDLERS = ['register', 'elect-leader', 'group', 'batch-handler', 'callback', 'sweep', 'api'] as const;
export type HandlerName = (typeof HANDLERS)[number];

/** Makes the code of a λ. */
export type HandlerCode = (name: HandlerName, config: Config) => Code;

/** One bundling for each configuration that this process deploys. */
const bundled = new Map<string, string>();

/** A λ's code. The same sources and configuration give the same bytes, so that nothing is deployed without a change. */
export const bundledCode: HandlerCode = (name, config) => {
  const text = JSON.stringify(config);
  const folder = bundled.get(text) ?? bundle(text);
  bundled.set(text, folder);
  return Code.fromAsset(join(folder, name));
};

/**
 * Bundles all λs into a folder each. The SDK is bundled too: what was tested is what runs, and one minified file loads
 * faster than the runtime's own copy.
 */
const bundle = (config: string): string => {
  const folder = temporaryFolder('bundles');
  const { outputFiles } = buildSync({
    entryPoints: HANDLERS.map((name) => ({ in: join(ROOT, 'lambdas', `${name}.ts`), out: join(name, 'index') })),
    // Source maps name their sources as seen from here: a place that is the same in every clone. Nothing is written there.
    outdir: OUTPUT,
    write: false,
    outExtension: { '.js': '.mjs' },
    // Nothing in the output may depend on where it was built.
    absWorkingDir: ROOT,
    sourceRoot: 'groupage',
    bundle: true,
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Dependencies that are still CommonJS inside ask for `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  for (const name of HANDLERS) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, CONFIG_ASSET), config);
  }
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, relative(OUTPUT, path)), contents);
  return folder;
};
