/**
 * Runs a script of this repository on the Node.js that Lambda runs, installing what it needs the first time.
 *
 *   node scripts/run.mjs SCRIPT [ARGUMENT…]
 *
 * Works on any Node.js ≥ 20, without a dependency: it is what a fresh clone starts with.
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
  console.error('Installing what Groupage needs (npm ci), once; this takes a minute or two …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status, error } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    console.error(`npm ci failed${error ? ` (${error.message})` : ''}: see above; mend it and run the command again.`);
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
    'node_modules/node has no Node.js in it: its install script did not run. Allow scripts (npm config set ignore-scripts false), remove node_modules and run the command again.',
  );
  process.exit(1);
}
const child = spawn(node, [resolve(root, script), ...args], {
  stdio: 'inherit',
  env: {
    // What Node.js compiled of the AWS CDK and the SDK is kept: a start takes a fifth less.
    NODE_COMPILE_CACHE: join(modules, '.cache', 'node'),
    ...process.env,
    PATH: `${join(modules, '.bin')}:${process.env.PATH ?? ''}`,
  },
});
// Ctrl-C reaches the child by itself; it decides when it has stopped.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signal === 'SIGTERM' && child.kill(signal));
child.on('error', (error) => {
  console.error(`could not start ${script}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
