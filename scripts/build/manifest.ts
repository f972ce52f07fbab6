/** The published package's `package.json`: what it needs is what its compiled files import, and nothing else. */
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The command, and threads that are started by their files' names. */
const PROGRAMS = ['bin/groupage.js', 'src/fleet/heartbeat-thread.js', 'tools/simulate/worker.js'];

/** Whoever uses the construct has these, and there may be only one of each in an app: what `cdk init` asks for, or newer. */
const PEERS = { 'aws-cdk-lib': '^2.275.0', constructs: '^10.5.0' };

/** What a manifest of ours has that this needs. */
export interface RootManifest {
  readonly [field: string]: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  /** What a clone is entered by: sources, and what is published as it is. */
  readonly exports: Readonly<Record<string, string>>;
}

const isSource = (file: string): boolean => file.endsWith('.ts');
const compiled = (file: string, ending: string): string => file.replace(/\.ts$/, ending);

/** All files from which the others are reached. */
export const rootsOf = ({ exports }: RootManifest): string[] => [
  ...PROGRAMS,
  ...Object.values(exports)
    .filter(isSource)
    .map((file) => compiled(file, '.js')),
];

/** What an app finds where a clone has a source. */
const published = (file: string): string | object =>
  isSource(file) ? { types: compiled(file, '.d.ts'), default: compiled(file, '.js') } : file;

/**
 * Packages that compiled files import, by name; `node:` modules are not among them.
 *
 * @param files what the package is entered by, in its folder.
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
    target: 'node20',
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

/** Anything newer with the same meaning will do, so that an app has one of each and gets what was mended. */
const range = (version: string): string => `^${version}`;

/**
 * @param root this repository's manifest.
 * @param imported packages that the compiled files import.
 * @throws Error where something is imported that is no dependency of ours.
 */
export const manifestFrom = (root: RootManifest, imported: ReadonlySet<string>): object => {
  const { name, version, description, keywords, license, engines, dependencies, exports } = root;
  const ranges = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((one) => {
        const pinned = dependencies[one];
        if (pinned === undefined) throw new Error(`the package imports ${one}, which package.json's dependencies lack`);
        return [one, range(pinned)];
      }),
    );
  const needed = [...imported].filter((one) => !(one in PEERS)).sort();
  return {
    name,
    version,
    description,
    keywords,
    license,
    type: 'module',
    engines,
    sideEffects: false,
    bin: { groupage: 'bin/groupage.js' },
    exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, published(file)])),
    dependencies: ranges(needed),
    peerDependencies: PEERS,
    // The client, fleets, the test kit and the command do without them.
    peerDependenciesMeta: Object.fromEntries(Object.keys(PEERS).map((one) => [one, { optional: true }])),
  };
};
