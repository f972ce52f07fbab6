/**
 * Builds the page where that was not done yet. What comes out lies in a folder named by a hash of all that it is made of:
 * if it is there it is whole, and up to date.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../batching/problems.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');

/** What the page is made of, beside `console/` itself: what it imports from here, and the versions of libraries. */
export const FROM_ELSEWHERE: readonly string[] = [
  'src/console/shapes.ts',
  'src/batching/json-text.ts',
  'src/batching/problems.ts',
  'src/metrics.ts',
  'package-lock.json',
];

/** Of earlier pages nothing is kept for longer (ms): somebody may still be looking at one. */
const KEPT = 24 * 3_600_000;

export type BuiltPage =
  | { readonly ok: true; readonly folder: string }
  /** Why there is no page, and what to do. */
  | { readonly ok: false; readonly reason: string };

/**
 * The page, built if need be by a process of its own: nobody has to wait for that. Never rejects.
 *
 * @param root of the repository.
 */
export const builtPage = async (root = ROOT): Promise<BuiltPage> => {
  try {
    const folder = join(root, '.cache', 'console', hashOf(root, [...filesIn(root, 'console'), ...FROM_ELSEWHERE]));
    if (!existsSync(folder)) await build(root, folder);
    return { ok: true, folder };
  } catch (cause) {
    return { ok: false, reason: `the console's page could not be built (${whatWasSaid(cause)})` };
  }
};

const filesIn = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .sort();

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
    await promisify(execFile)(process.execPath, [VITE, 'build', join(root, 'console'), ...options], { cwd: root });
    renameSync(making, folder);
  } catch (cause) {
    // Somebody else was faster, with the same.
    if (!existsSync(folder)) throw cause;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
};

const forgetIfOld = (folder: string): void => {
  if (Date.now() - statSync(folder).mtimeMs > KEPT) rmSync(folder, { recursive: true, force: true });
};

/** Vite says what is wrong on its standard error; the first lines of it. */
const whatWasSaid = (cause: unknown): string => {
  const { stderr } = cause as { readonly stderr?: string };
  return stderr ? stderr.trim().split('\n').slice(0, 5).join(' ') : reasonOf(cause);
};
