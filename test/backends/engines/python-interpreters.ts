/** Looks for a Python of a version: on the PATH, in pyenv, in uv. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** `3.13` is this version only, `3.10+` this or a later one. */
export type PythonVersion = `3.${number}` | `3.${number}+`;

/** An interpreter that runs. */
export interface Python {
  readonly path: string;
  /** Such as `3.13.0`. */
  readonly version: string;
}

const LATEST_MINOR = 14;

/**
 * The first interpreter that runs, has the version, and can create environments (Debian's needs one more package for
 * this).
 */
export const findPython = async (wanted: PythonVersion): Promise<Python | undefined> => {
  for (const path of candidates(wanted)) {
    const version = await versionOf(path);
    if (version !== undefined && fits(version, wanted)) return { path, version };
  }
  return undefined;
};

/** The reason why there is no such Python here; undefined if there is one. */
export const pythonProblem = async (wanted: PythonVersion): Promise<string | undefined> =>
  (await findPython(wanted))
    ? undefined
    : `no Python ${wanted.replace('+', ' or later')} that can make virtual environments, neither on the PATH nor kept by pyenv or uv: install one, e.g. with \`uv python install ${minorOf(wanted).join('.')}\` or \`pyenv install ${minorOf(wanted).join('.')}\``;

const candidates = (wanted: PythonVersion): readonly string[] => {
  const minors = minorsOf(wanted);
  const kept = (root: string, pattern: (minor: number) => string) =>
    minors.flatMap((minor) => globSync(join(root, pattern(minor)))).sort();
  const pyenv = process.env.PYENV_ROOT ?? join(homedir(), '.pyenv');
  const uv =
    process.env.UV_PYTHON_INSTALL_DIR ??
    join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'uv', 'python');
  return [
    'python3',
    ...minors.map((minor) => `python3.${minor}`),
    ...kept(pyenv, (minor) => `versions/3.${minor}{,.*}/bin/python`),
    ...kept(uv, (minor) => `cpython-3.${minor}.*/bin/python3`),
  ];
};

const minorOf = (wanted: string): [number, number] => {
  const [major = 3, minor = 0] = wanted.split('.').map((part) => Number.parseInt(part, 10));
  return [major, minor];
};

const minorsOf = (wanted: PythonVersion): readonly number[] => {
  const [, first] = minorOf(wanted);
  const count = wanted.endsWith('+') ? LATEST_MINOR - first + 1 : 1;
  return Array.from({ length: count }, (_, index) => first + index);
};

const fits = (version: string, wanted: PythonVersion): boolean => {
  const [major, minor] = minorOf(version);
  return major === 3 && (wanted.endsWith('+') ? minor >= minorOf(wanted)[1] : minor === minorOf(wanted)[1]);
};

/** The version of an interpreter, if it runs. Names on the PATH may be shims that only print what to install. */
const versionOf = async (path: string): Promise<string | undefined> => {
  try {
    const { stdout } = await run(path, ['-c', 'import ensurepip, venv, platform; print(platform.python_version())']);
    return stdout.trim();
  } catch {
    // Not there, or not runnable: try the next one.
    return undefined;
  }
};
