/**
 * Runs a script of this repository on the Node.js version that Lambda uses. It installs the dependencies if needed.
 *
 *   node scripts/run.mjs SCRIPT [ARGUMENT…]
 *
 * It works on any Node.js ≥ 20 without dependencies, because it is the first thing that runs in a fresh clone.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');

/** npm writes this file at the end of every install. */
const isInstalled = () => {
  const installed = join(modules, '.package-lock.json');
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
};

const install = () => {
  console.error('Installing the dependencies (npm ci). This happens once and takes a minute or two …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status, error } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    console.error(
      `npm ci failed${error ? ` (${error.message})` : ''}, see above. Correct the problem and run the command again.`,
    );
    process.exit(status ?? 1);
  }
};

const [script, ...args] = process.argv.slice(2);
if (!script) {
  console.error('usage: node scripts/run.mjs SCRIPT [ARGUMENT…]');
  process.exit(2);
}
if (!isInstalled()) install();

const node = join(modules, 'node', 'bin', 'node');
if (!existsSync(node)) {
  console.error(
    'node_modules/node contains no Node.js, since its install script did not run. Allow scripts (npm config set ignore-scripts false), remove node_modules and run the command again.',
  );
  process.exit(1);
}
const child = spawn(node, [resolve(root, script), ...args], {
  stdio: 'inherit',
  env: {
    // Cache the compiled code of the AWS CDK and the SDK: this makes a start a fifth faster.
    NODE_COMPILE_CACHE: join(modules, '.cache', 'node'),
    ...process.env,
    PATH: `${join(modules, '.bin')}:${process.env.PATH ?? ''}`,
  },
});
// The terminal sends Ctrl-C to the child too. The child decides when it exits.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
child.on('error', (error) => {
  console.error(`could not start ${script}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
