/** The package as it would be published, and folders in which a user installs it. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { nodeProblem } from '../../src/node/version.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The machine's Node.js, which ran npm, not this repository's. */
const MACHINES_NODE = process.env.npm_node_execpath ?? process.execPath;
const isSupported =
  nodeProblem(execFileSync(MACHINES_NODE, ['--version'], { encoding: 'utf8' }).slice(1)) === undefined;

/** The Node.js of a user: the machine's, unless the package does not support it. */
export const USERS_NODE = isSupported ? MACHINES_NODE : process.execPath;

const PRETENDING = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;
/** A Node.js that the package does not support, with its options: the machine's, or one that pretends to be. */
export const OLD_NODE: readonly [command: string, ...options: string[]] = isSupported
  ? [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(PRETENDING)}`]
  : [MACHINES_NODE];

/** Without npm's own variables, which would make a child npm work on this repository. */
export const environment = (): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || name === 'npm_config_registry'),
  );

/** Runs a command as a user would in a folder. @returns its output. @throws Error with its output */
export const run = async (
  folder: string,
  command: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const options = { cwd: folder, maxBuffer: 64 * 1_024 * 1_024, env: { ...environment(), ...more } };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause });
  }
};

export interface Tarball {
  /** The unpacked package. */
  readonly folder: string;
  readonly file: string;
  /** In bytes. */
  readonly size: number;
  readonly unpackedSize: number;
}

/** Builds the package and packs it. */
export const pack = async (): Promise<Tarball> => {
  const place = temporaryFolder('package');
  const folder = join(place, 'dist');
  await run(ROOT, process.execPath, ['scripts/build.ts', folder]);
  const [packed] = JSON.parse(await run(place, 'npm', ['pack', folder, '--json'])) as {
    filename: string;
    size: number;
    unpackedSize: number;
  }[];
  if (!packed) throw new Error('npm packed nothing');
  return { folder, file: join(place, packed.filename), size: packed.size, unpackedSize: packed.unpackedSize };
};

/** Installs the package and further ones, without install scripts. */
export const install = async (folder: string, { file }: Tarball, ...others: string[]): Promise<void> => {
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run(folder, 'npm', ['install', ...quietly, file, ...others]);
};
