/**
 * `npm run build`: builds the published package in `dist/` or in the given folder. It contains compiled sources with types,
 * the API reference, the bundled functions, the templates of the local stack, the console's page, the
 * contract's schemas and the library for workers in Python. `npm pack ./dist` packs it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleHandlers } from '../lib/handler-bundles.ts';
import { builtPage } from '../tools/console/server/page-build.ts';
import { writeLocalTemplates } from './build/local-templates.ts';
import { importedBy, manifestFrom, type RootManifest, rootsOf } from './build/manifest.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** A file that the local DynamoDB needs where Java replaces dynoxide. */
const LOOPBACK_POLICY = 'tools/local/loopback.policy';
/** Users copy it, or name its folder in PYTHONPATH. */
const PYTHON_LIBRARY = 'examples/workers/python/groupage_worker.py';
const DIST = resolve(process.argv[2] ?? join(ROOT, 'dist'));

/** @throws Error if the compilation fails; the compiler has printed why. */
const compile = (): void => {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', DIST], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the package does not compile');
  chmodSync(join(DIST, 'bin', 'groupage.js'), 0o755);
};

/** @throws Error if a docstring is invalid; TypeDoc has printed which. */
const writeReference = (): void => {
  const script = join(ROOT, 'scripts', 'reference.ts');
  const { status } = spawnSync(process.execPath, [script, join(DIST, 'reference')], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the API reference could not be created');
};

rmSync(DIST, { recursive: true, force: true });
compile();
writeReference();
const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as RootManifest;
const manifest = manifestFrom(root, await importedBy(DIST, rootsOf(root)));
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
bundleHandlers(join(DIST, 'handlers'));
writeLocalTemplates(join(DIST, 'local'));
cpSync(join(ROOT, LOOPBACK_POLICY), join(DIST, LOOPBACK_POLICY));
const page = await builtPage();
if (!page.ok) throw new Error(page.reason);
cpSync(page.folder, join(DIST, 'page'), { recursive: true });
cpSync(join(ROOT, 'contract'), join(DIST, 'contract'), { recursive: true });
cpSync(join(ROOT, PYTHON_LIBRARY), join(DIST, 'workers', 'python', basename(PYTHON_LIBRARY)));
for (const file of ['CHANGELOG.md', 'LICENSE']) cpSync(join(ROOT, file), join(DIST, file));
// The repository's README begins with a clone of the repository, so the package gets a README of its own.
cpSync(join(ROOT, 'docs', 'package.md'), join(DIST, 'README.md'));
