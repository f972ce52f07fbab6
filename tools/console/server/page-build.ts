/**
 * Finds the files of the page: in the published package, or in a build made on demand. The name of a build's folder is
 * a hash of all source files, so a folder that exists is complete and up to date.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '../../../src/util/problems.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = 'tools/console/page';
const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');

/**
 * Time after which builds of earlier sources are deleted, in milliseconds. Until then, an open page may still use them.
 */
const KEPT = 24 * 3_600_000;

export type BuiltPage =
  | { readonly ok: true; readonly folder: string }
  /** Why there is no page, and what to do. */
  | { readonly ok: false; readonly reason: string };

/**
 * Finds the page, or builds it in a separate process, so that the server can start meanwhile. Never rejects.
 *
 * @param root the folder of the repository, or of the package.
 */
export const builtPage = async (root = ROOT): Promise<BuiltPage> => {
  const prebuilt = join(root, 'page');
  if (existsSync(prebuilt)) return { ok: true, folder: prebuilt };
  try {
    const folder = join(root, '.cache', 'console', hashOf(root, madeOf(root)));
    if (!existsSync(folder)) await build(root, folder);
    return { ok: true, folder };
  } catch (cause) {
    return { ok: false, reason: `the console's page could not be built (${whatWasSaid(cause)})` };
  }
};

/**
 * The files on which the build depends: all files of the page's folder, the files that they import from other folders,
 * and the lock file with the versions of libraries.
 */
const madeOf = (root: string): readonly string[] => {
  const files = new Set(['package-lock.json', ...filesIn(root, PAGE)]);
  // The loop also visits the files that it adds.
  for (const file of files) if (file.endsWith('.ts')) for (const imported of importsOf(root, file)) files.add(imported);
  return [...files].sort();
};

const filesIn = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));

/** The files that a file imports. Missing files are left out, because Vite reports them. */
const importsOf = (root: string, file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import) '(\.{1,2}\/[^']+)'/g)]
    .map(([, path = '']) => join(dirname(file), path))
    .filter((path) => existsSync(join(root, path)));

const hashOf = (root: string, files: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(root, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
};

const build = async (root: string, folder: string): Promise<void> => {
  const cache = dirname(folder);
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) forgetIfOld(join(cache, name));
  const making = mkdtempSync(join(cache, 'making-'));
  try {
    const options = ['--outDir', making, '--emptyOutDir', '--logLevel', 'warn'];
    await promisify(execFile)(process.execPath, [VITE, 'build', join(root, PAGE), ...options], { cwd: root });
    renameSync(making, folder);
  } catch (cause) {
    // If the folder exists now, another process has made the same build.
    if (!existsSync(folder)) throw cause;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
};

const forgetIfOld = (folder: string): void => {
  if (Date.now() - statSync(folder).mtimeMs > KEPT) rmSync(folder, { recursive: true, force: true });
};

/** The first lines of Vite's error output. */
const whatWasSaid = (cause: unknown): string => {
  const { stderr } = cause as { readonly stderr?: string };
  return stderr ? stderr.trim().split('\n').slice(0, 5).join(' ') : reasonOf(cause);
};
