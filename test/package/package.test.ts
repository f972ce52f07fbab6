import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundledCode } from '../../lib/handler-code.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { importedBy } from '../../scripts/build/manifest.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { readLocalFile } from '../../tools/local/local-folder.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';
import { eventually } from '../end-to-end/flow.ts';
import { startTestDownstream } from '../factories/downstream.ts';
import { makeApp } from './cdk-app.ts';
import { environment, install, OLD_NODE, pack, run, type Tarball, USERS_NODE } from './tarball.ts';

const MIB = 1_024 * 1_024;

/** The files of a folder and its subfolders, by path. */
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
  /** An empty folder of a user. */
  const folderOf = (name: string): string => {
    const folder = join(temporaryFolder('adopts'), name);
    mkdirSync(folder);
    return folder;
  };

  it('passes publint', async () => {
    const { messages } = await publint({ pkgDir: tarball.folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest()))).toEqual([]);
  });

  it('has types that fit its code, for every way that leads to ES modules', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball.file)));
    if (!checked.types) throw new Error('the package has no types');
    const wrong = checked.problems.filter(
      // `exports` is the only way in, and leads to ES modules only. Node.js 10's lookup, and `require` before 22.12, do
      // not work.
      (problem) =>
        problem.kind !== 'CJSResolvesToESM' && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    );
    expect(wrong).toEqual([]);
    expect(Object.keys(checked.entrypoints).length).toBeGreaterThan(4);
  });

  it('states which Node.js it needs, also in its README', () => {
    expect(manifest()).toMatchObject({ engines: { node: '>=22.12' } });
    expect(readFileSync(join(tarball.folder, 'README.md'), 'utf8')).toContain('Node.js 22.12 or newer');
  });

  it('runs no script when it is installed, and has the documented size', () => {
    expect(manifest().scripts).toBeUndefined();
    expect(tarball.size).toBeLessThan(4 * MIB);
    expect(tarball.unpackedSize).toBeLessThan(16 * MIB);
  });

  it('loads the packages of the local stack in no import', async () => {
    const { exports, optionalDependencies } = manifest() as {
      exports: Record<string, { default?: string }>;
      optionalDependencies: object;
    };
    const entries = Object.values(exports).flatMap((each) => each.default ?? []);
    const imported = await importedBy(tarball.folder, entries);
    expect(imported).toContain('@aws-sdk/client-sqs');
    expect(Object.keys(optionalDependencies).filter((name) => imported.has(name))).toEqual([]);
    expect(Object.keys(optionalDependencies)).toContain('fauxqs');
  });

  describe('without the CDK', () => {
    let folder: string;
    beforeAll(async () => {
      folder = folderOf('worker');
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      await install(folder, tarball);
    });
    const usersNode = (code: string, ...args: string[]): Promise<string> => {
      writeFileSync(join(folder, 'program.js'), code);
      return run(folder, USERS_NODE, ['program.js', ...args]);
    };

    it('installs no CDK, no bundler and no install script', async () => {
      const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { hasInstallScript?: boolean }>;
      };
      const installed = Object.keys(lock.packages);
      expect(installed).toContain('node_modules/@aws-sdk/client-sqs');
      expect(installed.filter((path) => /aws-cdk-lib|esbuild|powertools/.test(path))).toEqual([]);
      expect(Object.values(lock.packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
      const said = await usersNode(`
      import { createClient, createFanOutClient, createListClient } from 'groupage/client';
      import { runFleet } from 'groupage/fleet';
      import { defineConfig, loadConfig } from 'groupage/config';
      const all = [createClient, createFanOutClient, createListClient, runFleet, defineConfig, loadConfig];
      console.log(all.every((each) => typeof each === 'function'));`);
      expect(said.trim()).toBe('true');
    });

    describe('groupage dev', () => {
      const onPath = `${dirname(USERS_NODE)}:${process.env.PATH}`;
      /** Starts it. `ended` resolves to everything that it printed. */
      const dev = (...args: string[]) => {
        const child = spawn('npx', ['groupage', 'dev', '--port', '0', ...args], {
          cwd: folder,
          env: { ...environment(), PATH: onPath },
        });
        let said = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (data) => {
            said += String(data);
          });
        const ended = new Promise<string>((resolve) => child.once('close', () => resolve(said)));
        return { ended };
      };
      const groupage = (...args: string[]): Promise<string> =>
        run(folder, 'npx', ['groupage', ...args], { PATH: onPath });
      const running = () => eventually(() => readLocalFile(folder), 20_000);
      const configure = (url: string): void =>
        writeFileSync(
          join(folder, 'mine.mjs'),
          `import { defineConfig } from 'groupage/config';
          const downstream = { kind: 'http', url: '${url}' };
          export default defineConfig({ operations: { ship: { target: ['depot'], batch: { maxWait: '0s' }, downstream } } });`,
        );
      const stop = async (started: ReturnType<typeof dev>): Promise<string> => {
        process.kill((await running()).pid, 'SIGINT');
        return started.ended;
      };

      it('says what to write if there is no configuration', async () => {
        const said = await dev().ended;
        expect(said).toContain('This folder has no groupage.config.ts or groupage.config.json');
        expect(parseConfig(JSON.parse(/^\{.*^\}/ms.exec(said)?.[0] ?? '')).ok).toBe(true);
      });

      it('runs tasks, and keeps them over a restart', { timeout: 120_000 }, async () => {
        const downstream = await startTestDownstream();
        configure(downstream.url);
        try {
          const first = dev('--config', 'mine.mjs');
          await running();
          await groupage('send', 'ship', '{"depot":"MUC"}', '--id', 'parcel-1');
          expect(await groupage('status', 'parcel-1', '--wait')).toMatch(/status\s+succeeded/);
          expect(downstream.calls.map(({ items }) => items.map(({ id }) => id))).toEqual([['parcel-1']]);
          expect(await (await fetch(await groupage('console'))).text()).toContain('<groupage-console>');
          expect(await dev('--config', 'mine.mjs').ended).toContain('already runs in this folder');
          expect(await stop(first)).toMatch(/Groupage is ready.*\nStopped\.\n$/s);
          const second = dev('--config', 'mine.mjs');
          await running();
          expect(await groupage('status', 'parcel-1')).toMatch(/status\s+succeeded/);
          await stop(second);
          expect(readFileSync(join(folder, '.groupage/.gitignore'), 'utf8')).toBe('*\n');
        } finally {
          await downstream.stop();
        }
      });

      it('lets programs work on lists and partitions', { timeout: 120_000 }, async () => {
        const downstream = await startTestDownstream();
        configure(downstream.url);
        const started = dev('--config', 'mine.mjs', '--ephemeral');
        /** A worker that has `send`, and runs this code for each message. */
        const worker = (code: string): readonly string[] => [
          USERS_NODE,
          '-e',
          `const send = (message) => console.log(JSON.stringify(message)); send({ type: 'ready' });
          const onMessage = (message) => { ${code} };
          require('readline').createInterface({ input: process.stdin })
            .on('line', (line) => onMessage(JSON.parse(line))).on('close', () => process.exit());`,
        ];
        try {
          await running();
          await groupage('lists', 'create', '--id', 'night');
          writeFileSync(join(folder, 'jobs.jsonl'), '{"n":1}\n{"n":2}\n');
          await groupage('lists', 'add', 'night', 'jobs.jsonl');
          await groupage('lists', 'seal', 'night');
          const double = worker(`send({ type: 'done', token: message.token, result: 2 * message.payload.n });`);
          expect(await groupage('lists', 'worker', 'night', '--', ...double)).toContain('night is complete');
          expect(await groupage('lists', 'show', 'night', '--jobs')).toMatch(/"result":2\b.*\n.*"result":4\b/);
          const once = worker(`if (message.type === 'partition') send({ type: 'checkpoint', value: 'here' });
            else if (message.type === 'stored') process.kill(process.ppid, 'SIGTERM');
            else process.exit();`);
          await groupage('fleet', 'worker', 'flights', '--partitions', 'MUC', '--cycle', '0.2', '--', ...once);
          expect(await groupage('fleet', 'show', 'flights', '--partition', 'MUC')).toContain('checkpoint: here');
        } finally {
          await stop(started);
          await downstream.stop();
        }
        const library = readFileSync(join(tarball.folder, 'workers/python/groupage_worker.py'), 'utf8');
        expect(library).toContain('def run_jobs(');
      });

      it('says how to install packages that were left out', async () => {
        const [here, away] = [join(folder, 'node_modules/sqs-consumer'), join(folder, 'sqs-consumer')];
        renameSync(here, away);
        try {
          const said = await dev('--config', 'mine.mjs').ended;
          expect(said).toMatch(/'sqs-consumer'.*npm install without --omit=optional/);
          expect(said).not.toContain('    at ');
        } finally {
          renameSync(away, here);
        }
      });
    });

    describe('on an old Node.js', () => {
      const [command, ...options] = OLD_NODE;
      /** What a program prints when it fails. */
      const failure = (...args: string[]): Promise<string> =>
        run(folder, command, [...options, ...args]).then(
          (printed) => Promise.reject(new Error(`it ended as if nothing were wrong: ${printed}`)),
          (cause: Error) => cause.message,
        );
      const told = /Groupage needs Node\.js 22\.12 or newer, and this is Node\.js \d+\.\d+\.\d+ \(.*Install a newer/;

      it('has a command that only says what it needs', async () => {
        const printed = await failure('node_modules/groupage/bin/groupage.js', 'targets', '--stack', 'App');
        expect(printed.trim().split('\n')).toEqual([expect.stringContaining(' failed:'), expect.stringMatching(told)]);
      });

      it.each(['client', 'config', 'fleet', 'testing'])('refuses to load groupage/%s', async (name) => {
        writeFileSync(
          join(folder, 'old.js'),
          `import * as all from 'groupage/${name}'; console.log(Object.keys(all));`,
        );
        const printed = await failure('old.js');
        expect(printed).toMatch(told);
        expect(printed).not.toContain('NodeVersionSupportWarning');
      });

      it('refuses to run a bundle without unused code', async () => {
        const entry = join(folder, 'producer.js');
        writeFileSync(entry, `import { createClient } from 'groupage/client'; console.log(typeof createClient);`);
        // The SDK has CommonJS code that needs `require`, as in a user's own bundle.
        const banner = { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" };
        const outfile = join(folder, 'bundle.mjs');
        await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', banner });
        expect(await run(folder, USERS_NODE, ['bundle.mjs'])).toBe('function\n');
        expect(await failure('bundle.mjs')).toMatch(told);
      });
    });

    it('works on partitions, with heartbeats in a thread of its own', async () => {
      const engine = await startDynamoDB({ port: 0 });
      try {
        const at = await makeFleetTable(engine.endpoint, 'Fleet');
        const said = await usersNode(
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

  describe('in a CDK app', () => {
    let folder: string;
    beforeAll(async () => {
      folder = folderOf('app');
      await makeApp(folder, tarball);
    });
    const bin = (name: string): string => join(folder, 'node_modules/.bin', name);
    /** With the user's Node.js. */
    const onPath = { PATH: `${dirname(USERS_NODE)}:${process.env.PATH}` };

    it('refuses to synthesise on an old Node.js', async () => {
      const [command, ...options] = OLD_NODE;
      const tsx = join(folder, 'node_modules/tsx/dist/cli.mjs');
      const ended = await run(folder, command, [...options, tsx, 'bin/app.ts']).catch(String);
      expect(ended).toContain('Groupage needs Node.js 22.12 or newer');
      expect(ended).not.toContain('NodeVersionSupportWarning');
    });

    it('type-checks together with the app', async () => {
      await run(folder, bin('tsc'), [], onPath);
    });

    it("synthesises functions that equal this repository's byte for byte", async () => {
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
      if (!config.ok) throw new Error('the configuration is invalid');
      // The second one has clients that are loaded lazily.
      for (const [handler, name] of [
        ['GroupHandler', 'group'],
        ['BatchHandler', 'batch-handler'],
      ] as const) {
        const asset = Object.values(assets.files).find(({ displayName }) => displayName.includes(handler));
        const here = bundledCode(name, config.value) as unknown as { path: string };
        expect(textsIn(join(out, asset?.source.path ?? ''))).toEqual(textsIn(here.path));
      }
    });

    it('has the command, which reports errors and what to do', async () => {
      expect(
        await run(folder, bin('groupage'), ['check', '--json', 'groupage.config.json'], onPath).catch(String),
      ).toContain('there is no such file');
      writeFileSync(
        join(folder, 'right.json'),
        JSON.stringify({ operations: { a: { target: [], downstream: { kind: 'queue', name: 'q' } } } }),
      );
      expect(await run(folder, bin('groupage'), ['check', 'right.json'], onPath)).toContain(
        'The configuration is valid',
      );
      expect(await run(folder, bin('groupage'), ['targets'], onPath).catch(String)).toContain('--stack NAME');
    });
  });
});
