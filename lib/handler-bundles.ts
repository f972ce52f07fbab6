/** Bundles the λs from their sources: at synth in a clone, once and for all in the published package. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { OPENAPI_ASSET } from '../src/environment.ts';
import { HANDLERS } from './handler-names.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUTPUT = join(ROOT, 'bundles');

/**
 * Bundles all λs, together, since they share most of it, into a folder each. The SDK is bundled too: what was tested is
 * what runs, and one minified file loads faster than the runtime's own copy. The same sources give the same bytes.
 */
export const bundleHandlers = (folder: string): void => {
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
  for (const name of HANDLERS) mkdirSync(join(folder, name), { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, relative(OUTPUT, path)), contents);
  copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, 'api', OPENAPI_ASSET));
};
