/**
 * Creates the published package's `package.json`. Its dependencies are exactly the packages that the compiled files import.
 * Packages that only `groupage dev` needs are optional, so that producers and workers can leave them out.
 */
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { NODE_RANGE } from '../../src/node/version.ts';

/** Entry points that `exports` does not contain: the command, and threads that are started by file name. */
const PROGRAMS = [
  'bin/groupage.js',
  'src/fleet/heartbeat-thread.js',
  'tools/local/sqs-thread.js',
  'tools/simulate/worker.js',
];

/**
 * Peer dependencies, because a CDK app may contain only one copy of each package. The ranges are those of `cdk init`,
 * or newer.
 */
const PEERS = { 'aws-cdk-lib': '^2.275.0', constructs: '^10.5.0' };

/**
 * Packages that only the local stack needs. The repository has them as dev dependencies: npm leaves out an optional
 * dependency whose `engines` do not fit, and the repository also starts under Node.js 20.
 */
const OF_LOCAL_STACK = ['@smithy/undici-http-handler', 'fauxqs', 'sqs-consumer'];

/** The file that refuses an old Node.js when it is imported. */
const CHECK = './src/node/supported.js';

/** Fields of the repository's `package.json` that are used. */
export interface RootManifest {
  readonly [field: string]: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** The local DynamoDB, which exists for some platforms only. */
  readonly optionalDependencies: Readonly<Record<string, string>>;
  /** Entry points of the repository: sources, and files that are published unchanged. */
  readonly exports: Readonly<Record<string, string>>;
}

const isSource = (file: string): boolean => file.endsWith('.ts');
const compiled = (file: string, ending: string): string => file.replace(/\.ts$/, ending);

/** All entry points; the other files are reached from these. */
export const rootsOf = ({ exports }: RootManifest): string[] => [
  ...PROGRAMS,
  ...Object.values(exports)
    .filter(isSource)
    .map((file) => compiled(file, '.js')),
];

/** The published form of an entry point. */
const published = (file: string): string | object =>
  isSource(file) ? { types: compiled(file, '.d.ts'), default: compiled(file, '.js') } : file;

/**
 * Names of the packages that compiled files import, without Node.js modules.
 *
 * @param files entry points, relative to the folder.
 */
export const importedBy = async (folder: string, files: readonly string[]): Promise<ReadonlySet<string>> => {
  const { metafile } = await build({
    entryPoints: files.map((file) => join(folder, file)),
    outdir: folder,
    write: false,
    bundle: true,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'error',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return new Set(imports.filter(({ path }) => !isBuiltin(path)).map(({ path }) => packageOf(path)));
};

const packageOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/** Accepts newer compatible versions, so that an app has one copy of each package and gets bug fixes. */
const range = (version: string): string => `^${version}`;

/**
 * @param root the repository's `package.json`.
 * @param imported packages that the compiled files import.
 * @throws Error if an imported package is not a dependency of the repository.
 */
export const manifestFrom = (root: RootManifest, imported: ReadonlySet<string>): object => {
  const { name, version, description, keywords, license, dependencies, devDependencies, exports } = root;
  const optional = {
    ...root.optionalDependencies,
    ...Object.fromEntries(OF_LOCAL_STACK.map((one) => [one, devDependencies[one] as string])),
  };
  const ranges = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((one) => {
        const pinned = dependencies[one];
        if (pinned === undefined)
          throw new Error(`the package imports ${one}, which is missing in the dependencies of package.json`);
        return [one, range(pinned)];
      }),
    );
  const needed = [...imported].filter((one) => !(one in PEERS || one in optional)).sort();
  return {
    name,
    version,
    description,
    keywords,
    license,
    type: 'module',
    // The repository itself runs on older versions: scripts/run.mjs starts its own Node.js.
    engines: { node: NODE_RANGE },
    // Bundlers may drop all other files that export nothing an app uses.
    sideEffects: [CHECK],
    bin: { groupage: 'bin/groupage.js' },
    exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, published(file)])),
    dependencies: ranges(needed),
    // Exact versions: the local stack relies on internals of its SQS engine (docs/decisions/0001), and only these are tested.
    optionalDependencies: optional,
    peerDependencies: PEERS,
    // Only the construct needs the peer dependencies; the client, fleets, the test kit and the command do not.
    peerDependenciesMeta: Object.fromEntries(Object.keys(PEERS).map((one) => [one, { optional: true }])),
  };
};
