/** Finds and reads a configuration file. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../domain/config/resolved.ts';
import { parseConfig } from '../domain/config/schema/config.ts';
import { describeProblem, reasonOf } from '../util/problems.ts';
import { otherFileOf, type PlacedProblem, placed, placeOfError, placeOfJsonError } from './places.ts';

/** File names that are tried, in this order. */
export const CONFIG_FILES = ['groupage.config.ts', 'groupage.config.json'] as const;

/** JSON, and the modules that Node loads. */
const KINDS = ['.json', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];

/** The example configuration, used if a project has none. */
export const EXAMPLE_CONFIG = join(import.meta.dirname, '../../examples/flights/groupage.config.ts');

/** If loading a module takes longer than this, in ms, the module is waiting for something that does not happen. */
const LOADING_MAX = 30_000;

/** An invalid configuration. Its message is for users: the file, then each problem with its line in the file, if known. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
  readonly file: string;
  readonly problems: readonly PlacedProblem[];
  constructor(file: string, problems: readonly PlacedProblem[]) {
    super(`${file}:\n${problems.map(describe).join('\n').replaceAll(/^/gm, '  ')}`);
    this.file = file;
    this.problems = problems;
  }
}

const describe = ({ at, ...problem }: PlacedProblem): string =>
  `${at ? `line ${at.line}, column ${at.column}: ` : ''}${describeProblem(problem)}`;

/**
 * Decides which configuration is used: the file `given`, otherwise the file that `GROUPAGE_CONFIG` names, otherwise the
 * file in the folder.
 *
 * @param given relative to `folder` if it is not absolute.
 * @returns its absolute path, or undefined if there is none.
 */
export const findConfig = (folder: string, given?: string): string | undefined => {
  // Some shells set a variable to an empty value if it is not set.
  const named = given ?? (process.env.GROUPAGE_CONFIG || undefined);
  if (named !== undefined) return resolve(folder, named);
  return CONFIG_FILES.map((name) => join(folder, name)).find((path) => existsSync(path));
};

/**
 * Reads and checks a configuration: the default export of a module, or JSON.
 *
 * @param file relative to `folder` if it is not absolute.
 * @throws InvalidConfig
 */
export const loadConfig = async (file: string, folder = process.cwd()): Promise<Config> => {
  const parsed = parseConfig(await readConfig(file, folder));
  if (parsed.ok) return parsed.value;
  const path = isAbsolute(file) ? file : join(folder, file);
  throw new InvalidConfig(file, placed(parsed.problems, textOf(path), isJson(path) ? 'json' : 'module'));
};

/** Reads a configuration without checking it, for callers that change it and check it afterwards. */
export const readConfig = (file: string, folder = process.cwd()): Promise<unknown> =>
  read(file, isAbsolute(file) ? file : join(folder, file));

const read = async (file: string, path: string): Promise<unknown> => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new InvalidConfig(file, [{ path: '', reason: 'there is no such file' }]);
  if (stat.isDirectory())
    throw new InvalidConfig(file, [
      { path: '', reason: `is a folder: name a file in it (${CONFIG_FILES.join(', ')})` },
    ]);
  if (!KINDS.includes(extname(path)))
    throw new InvalidConfig(file, [
      { path: '', reason: `has a file type that is not supported; use one of ${KINDS.join(', ')}` },
    ]);
  try {
    if (isJson(path)) return JSON.parse(textOf(path));
    const module = await reportingExit(file, () =>
      inTime(import(pathToFileURL(path).href) as Promise<{ default?: unknown }>),
    );
    if (module.default !== undefined) return module.default;
  } catch (cause) {
    const at = isJson(path) ? placeOfJsonError(textOf(path)) : placeOfError(path, cause);
    const why = isJson(path) ? withoutPlace(reasonOf(cause)) : `${reasonOf(cause)}${otherFileOf(path, cause)}`;
    const reason = `cannot be read: ${why}${hintFor(cause)}`;
    throw new InvalidConfig(file, [{ path: '', reason, ...(at ? { at } : {}) }]);
  }
  throw new InvalidConfig(file, [
    { path: '', reason: 'has no default export: write `export default defineConfig({ … })`' },
  ]);
};

const isJson = (path: string): boolean => path.endsWith('.json');

/** What V8 says of a JSON error without where it is: a position, or a quotation of several lines. */
const withoutPlace = (message: string): string =>
  message.replace(/ at position .*$|, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, '');

/** Some editors begin a file with a byte order mark. */
const textOf = (path: string): string => readFileSync(path, 'utf8').replace(/^\ufeff/, '');

/** A hint if Node cannot load TypeScript. Node 22.18 and later can. */
const hintFor = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    ? `; this is Node.js ${process.versions.node}: use 22.18 or newer for TypeScript, or write the configuration as .mjs or .json`
    : '';

const inTime = async <T>(loading: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still not loaded after ${LOADING_MAX / 1_000} s`)), LOADING_MAX);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Reports a module that calls `process.exit`. The command would otherwise end as if it had succeeded. */
const reportingExit = async <T>(file: string, load: () => Promise<T>): Promise<T> => {
  const onExit = (): void => {
    console.error(`${file}: ended the process while it was loaded (process.exit?). A configuration must only export`);
    process.exitCode = 1;
  };
  process.once('exit', onExit);
  try {
    return await load();
  } finally {
    process.off('exit', onExit);
  }
};
