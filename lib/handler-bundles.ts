/** Bundles the functions from their sources: at synth in a clone, and once for the published package. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, type Metafile } from 'esbuild';
import { OPENAPI_ASSET } from '../src/domain/deployed/environment.ts';
import { HANDLERS, type HandlerName } from './handler-names.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUTPUT = join(ROOT, 'bundles');
/** The file that a function loads when it starts. */
export const ENTRY = 'index.mjs';

/** The files of a bundle by path. Each value lists the inputs and imports of its file. */
export type BundleFiles = Readonly<Metafile['outputs']>;

/**
 * Bundles each function into a folder. The bundle contains the AWS SDK: so the SDK's tested version is used, and one
 * minified file loads faster than the runtime's copy. Code that a function imports on demand is in separate files
 * beside its entry. The same sources always produce the same bytes.
 */
export const bundleHandlers = (folder: string): ReadonlyMap<HandlerName, BundleFiles> => {
  const bundles = new Map(HANDLERS.map((name) => [name, bundleHandler(name, join(folder, name))]));
  copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, 'api', OPENAPI_ASSET));
  return bundles;
};

/** Bundles one function. The bundles share no files. */
const bundleHandler = (name: HandlerName, folder: string): BundleFiles => {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [{ in: join(ROOT, 'lambdas', `${name}.ts`), out: 'index' }],
    // Source maps name their sources relative to this folder, which is the same in every clone. Nothing is written to
    // it.
    outdir: join(OUTPUT, name),
    write: false,
    outExtension: { '.js': '.mjs' },
    // With a fixed working directory, the output does not depend on the folder in which it is built.
    absWorkingDir: ROOT,
    sourceRoot: 'groupage',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    metafile: true,
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Replace two packages that a function does not need: it has its credentials in its environment and few endpoints
    // to cache (docs/decisions/0019).
    alias: {
      '@aws-sdk/credential-provider-node': join(ROOT, 'lambdas', 'credentials.ts'),
      'mnemonist/lru-cache': join(ROOT, 'lambdas', 'lru-cache.ts'),
    },
    // The SDK uses this package only in browsers.
    external: ['bowser'],
    // Some dependencies contain CommonJS code that needs `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  mkdirSync(join(folder, 'chunks'), { recursive: true });
  for (const { path, contents } of outputFiles)
    writeFileSync(join(folder, relative(join(OUTPUT, name), path)), contents);
  return metafile.outputs;
};
