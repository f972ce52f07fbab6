import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  /** Part of another package, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

const read = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')) as Record<string, Record<string, unknown>>;
const { dependencies, devDependencies, optionalDependencies, allowScripts = {} } = read('package.json');
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
/** This repository's own folders, and the links to them. */
const { workspaces = [] } = read('package.json') as unknown as { workspaces?: string[] };
const isOurs = (path: string): boolean => path === '' || workspaces.includes(packages[path]?.resolved ?? path);
const locked = Object.entries(packages).filter(([path]) => !isOurs(path));

describe('dependencies', () => {
  it('have exact versions and hashes', () => {
    const theirs = workspaces.map((folder) => read(`${folder}/package.json`).devDependencies);
    const asked = [dependencies, devDependencies, optionalDependencies, ...theirs].flatMap((each) =>
      Object.entries(each ?? {}),
    );
    expect(theirs).not.toContain(undefined);
    expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
    expect(locked.filter(([, { integrity, inBundle }]) => !inBundle && !/^sha512-/.test(integrity ?? ''))).toEqual([]);
    // Without a URL, npm takes each package from the configured registry; a URL could name any host.
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(locked.length).toBeGreaterThan(300);
  });

  // npm enforces this list since version 11.16; older versions run all scripts.
  it('run no install script except the allowed ones', () => {
    const scripts = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(scripts).toContain('esbuild');
    expect(scripts.filter((name) => !(name in allowScripts))).toEqual([]);
  });
});
