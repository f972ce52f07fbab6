import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../lib/temporary-folder.ts';
import { nodeProblem } from '../src/node/version.ts';
import { OLD_NODE, run } from './package/tarball.ts';

const ROOT = join(import.meta.dirname, '..');

it('refuses a Node.js before 22.12, and names it and a way out', () => {
  for (const version of ['18.20.8', '20.20.2', '22.0.0', '22.11.0'])
    expect(nodeProblem(version)).toMatch(
      new RegExp(`needs Node\\.js 22\\.12 or newer, and this is Node\\.js ${version} .* Install a newer`),
    );
  for (const version of ['22.12.0', '22.21.1', '23.0.0', '24.1.0', '26.0.0'])
    expect(nodeProblem(version)).toBe(undefined);
});

it('lets the commands of a clone, their children and their threads run on its own Node.js', async () => {
  const script = join(temporaryFolder('node'), 'script.mjs');
  writeFileSync(
    script,
    `import { fork, spawnSync } from 'node:child_process';
    import { once } from 'node:events';
    import { parentPort, Worker } from 'node:worker_threads';
    const tell = process.send?.bind(process) ?? parentPort?.postMessage.bind(parentPort);
    if (tell) tell(process.execPath);
    else {
      const named = spawnSync('node', ['-p', 'process.execPath'], { encoding: 'utf8' }).stdout.trim();
      const [[forked], [thread]] = await Promise.all(
        [fork(import.meta.filename), new Worker(import.meta.filename)].map((other) => once(other, 'message')),
      );
      console.log(JSON.stringify([process.execPath, named, forked, thread]));
    }`,
  );
  const [command, ...options] = OLD_NODE;
  const PATH = [dirname(command), '/usr/bin', '/bin'].join(':');
  const printed = await run(ROOT, command, [...options, 'scripts/run.mjs', script], { PATH });
  expect(JSON.parse(printed)).toEqual(Array.from({ length: 4 }, () => join(ROOT, 'node_modules/node/bin/node')));
});

it('starts no script of package.json on the Node.js of the machine', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  const others = Object.values(scripts).filter((script) => !script.startsWith('node scripts/run.mjs '));
  expect(others).toEqual(['npm test', 'biome check --write .']);
});
