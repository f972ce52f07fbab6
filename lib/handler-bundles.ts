/** Bundles the λs from their sources: at synth in a clone, once and for all in the published package. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync, type Metafile } from 'esbuild';
import { OPENAPI_ASSET } from '../src/domain/deployed/environment.ts';
import { HANDLERS, type HandlerName } from './handler-names.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUTPUT = join(ROOT, 'bundles');
/** What a λ loads when it starts. */
export const ENTRY = 'index.mjs';

/** The files of a bundle by their paths, and what each is made of and imports. */
export type BundleFiles = Readonly<Metafile['outputs']>;

/**
 * Bundles all λs into a folder each. The SDK is bundled too: what was tested is what runs, and one minified file loads
 * faster than the runtime's own copy. What a λ imports when it first needs it is a file beside its entry. The same
 * sources give the same bytes.
 */
export const bundleHandlers = (folder: string): ReadonlyMap<HandlerName, BundleFiles> => {
  const bundles = new Map(HANDLERS.map((name) => [name, bundleHandler(name, join(folder, name))]));
  copyFileSync(join(ROOT, 'contract', OPENAPI_ASSET), join(folder, 'api', OPENAPI_ASSET));
  return bundles;
};

/** Each on its own: λs share nothing but their sources. */
const bundleHandler = (name: HandlerName, folder: string): BundleFiles => {
  const { outputFiles, metafile } = buildSync({
    entryPoints: [{ in: join(ROOT, 'lambdas', `${name}.ts`), out: 'index' }],
    // Source maps name their sources as seen from here: a place that is the same in every clone. Nothing is written there.
    outdir: join(OUTPUT, name),
    write: false,
    outExtension: { '.js': '.mjs' },
    // Nothing in the output may depend on where it was built.
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
    // A function has its keys in its environment, and few endpoints to keep: see docs/decisions/0019.
    alias: {
      '@aws-sdk/credential-provider-node': join(ROOT, 'lambdas', 'credentials.ts'),
      'mnemonist/lru-cache': join(ROOT, 'lambdas', 'lru-cache.ts'),
    },
    // The SDK's for browsers, which nothing in Node.js comes to.
    external: ['bowser'],
    // Dependencies that are still CommonJS inside ask for `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  mkdirSync(join(folder, 'chunks'), { recursive: true });
  for (const { path, contents } of outputFiles)
    writeFileSync(join(folder, relative(join(OUTPUT, name), path)), contents);
  return metafile.outputs;
};
