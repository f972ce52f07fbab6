/** The size of a Lambda function's bundle. */
import { type BundleFiles, ENTRY } from '../../lib/handler-bundles.ts';

/** Sizes in bytes. */
export interface Size {
  /** The code that is loaded when the function starts: its entry and all static imports. */
  readonly atStart: number;
  /** The code that is loaded on demand. */
  readonly later: number;
}

export const sizeOf = (files: BundleFiles): Size => {
  const atStart = loadedAtStart(files);
  const bytesOf = (wanted: (name: string) => boolean): number =>
    Object.entries(files).reduce((sum, [name, { bytes }]) => sum + (wanted(name) ? bytes : 0), 0);
  return {
    atStart: bytesOf((name) => atStart.has(name)),
    later: bytesOf((name) => name.endsWith('.mjs') && !atStart.has(name)),
  };
};

/** The files that are loaded when the function starts: the entry and all of its static imports. */
const loadedAtStart = (files: BundleFiles): ReadonlySet<string> => {
  const found = new Set<string>();
  const open = Object.keys(files).filter((name) => name.endsWith(`/${ENTRY}`));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const imports = files[name]?.imports ?? [];
    open.push(
      ...imports.filter(({ kind, external }) => kind === 'import-statement' && !external).map(({ path }) => path),
    );
  }
  return found;
};
