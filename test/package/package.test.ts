import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundledCode } from '../../lib/handler-code.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';
import { makeApp } from './cdk-app.ts';
import { install, MACHINES_NODE, pack, run, type Tarball } from './tarball.ts';

const MIB = 1_024 * 1_024;

/** The files of a folder and of those in it, by their paths. */
const textsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  );

describe('the package', () => {
  let tarball: Tarball;
  beforeAll(async () => {
    tarball = await pack();
  });
  const manifest = () =>
    JSON.parse(readFileSync(join(tarball.folder, 'package.json'), 'utf8')) as Record<string, object>;
  /** A folder of somebody's. */
  const folderOf = (name: string): string => {
    const folder = join(temporaryFolder('adopts'), name);
    mkdirSync(folder);
    return folder;
  };

  it('is as publint wants it', async () => {
    const { messages } = await publint({ pkgDir: tarball.folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest()))).toEqual([]);
  });

  it('has types that fit what runs, for all ways that lead to ES modules', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball.file)));
    if (!checked.types) throw new Error('it has no types');
    const wrong = checked.problems.filter(
      // `exports` alone leads here, and to ES modules alone: what Node.js 10 looked for, and `require` before 20.19, does not.
      (problem) =>
        problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    );
    expect(wrong).toEqual([]);
    expect(Object.keys(checked.entrypoints).length).toBeGreaterThan(4);
  });

  it('runs nothing when it is installed, and is as large as the documentation says', () => {
    expect(manifest().scripts).toBeUndefined();
    expect(tarball.size).toBeLessThan(4 * MIB);
    expect(tarball.unpackedSize).toBeLessThan(16 * MIB);
  });

  describe('without the CDK', () => {
    let folder: string;
    beforeAll(async () => {
      folder = folderOf('worker');
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      await install(folder, tarball);
    });
    const machinesNode = (code: string, ...args: string[]): Promise<string> => {
      writeFileSync(join(folder, 'program.js'), code);
      return run(folder, MACHINES_NODE, ['program.js', ...args]);
    };

    it('gives those who only send tasks, or work in a fleet, what they need and no more', async () => {
      const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { hasInstallScript?: boolean }>;
      };
      const installed = Object.keys(lock.packages);
      expect(installed).toContain('node_modules/@aws-sdk/client-sqs');
      expect(installed.filter((path) => /aws-cdk-lib|esbuild|powertools/.test(path))).toEqual([]);
      expect(Object.values(lock.packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
      const said = await machinesNode(`
      import { createClient, createFanOutClient, createListClient } from 'groupage/client';
      import { runFleet } from 'groupage/fleet';
      import { defineConfig, loadConfig } from 'groupage/config';
      const all = [createClient, createFanOutClient, createListClient, runFleet, defineConfig, loadConfig];
      console.log(all.every((each) => typeof each === 'function'));`);
      expect(said.trim()).toBe('true');
    });

    it('works on partitions, and beats in a thread of its own meanwhile', async () => {
      const engine = await startDynamoDB({ port: 0 });
      try {
        const at = await makeFleetTable(engine.endpoint, 'Fleet');
        const said = await machinesNode(
          `import { runFleet } from 'groupage/fleet';
          const done = new AbortController();
          const onPartition = async ({ id }) => { console.log('works on', id); done.abort(); };
          const table = JSON.parse(process.argv[2]);
          await runFleet({ table, fleet: 'flights', partitions: ['MUC'], cycle: 200, onPartition, signal: done.signal });`,
          JSON.stringify(at),
        );
        expect(said.trim()).toBe('works on MUC');
      } finally {
        await engine.stop();
      }
    });
  });

  describe('in an app of the CDK', () => {
    let folder: string;
    beforeAll(async () => {
      folder = folderOf('app');
      await makeApp(folder, tarball);
    });
    const bin = (name: string): string => join(folder, 'node_modules/.bin', name);
    /** By the machine's own Node.js. */
    const onPath = { PATH: `${dirname(MACHINES_NODE)}:${process.env.PATH}` };

    it('has its types checked with everything else', async () => {
      await run(folder, bin('tsc'), [], onPath);
    });

    it('is synthesised, with functions that are those of this repository to the byte', async () => {
      const out = join(folder, 'cdk.out');
      await run(folder, bin('tsx'), ['bin/app.ts'], { ...onPath, CDK_OUTDIR: out });
      const assets = JSON.parse(readFileSync(join(out, 'AppStack.assets.json'), 'utf8')) as {
        files: Record<string, { displayName: string; source: { path: string } }>;
      };
      const config = parseConfig({
        operations: {
          'distribute-parcels': {
            target: ['carrier', 'depot'],
            downstream: { kind: 'lambda', function: 'parcels-carrier' },
          },
        },
      });
      if (!config.ok) throw new Error('the configuration is wrong');
      // The second has clients that are loaded when they are needed.
      for (const [handler, name] of [
        ['GroupHandler', 'group'],
        ['BatchHandler', 'batch-handler'],
      ] as const) {
        const asset = Object.values(assets.files).find(({ displayName }) => displayName.includes(handler));
        const here = bundledCode(name, config.value) as unknown as { path: string };
        expect(textsIn(join(out, asset?.source.path ?? ''))).toEqual(textsIn(here.path));
      }
    });

    it('has the command, which says what is wrong and what to do', async () => {
      expect(
        await run(folder, bin('groupage'), ['check', '--json', 'groupage.config.json'], onPath).catch(String),
      ).toContain('there is no such file');
      writeFileSync(
        join(folder, 'right.json'),
        JSON.stringify({ operations: { a: { target: [], downstream: { kind: 'queue', name: 'q' } } } }),
      );
      expect(await run(folder, bin('groupage'), ['check', 'right.json'], onPath)).toContain(
        'The configuration is right',
      );
      expect(await run(folder, bin('groupage'), ['targets'], onPath).catch(String)).toContain('--stack NAME');
    });
  });
});
