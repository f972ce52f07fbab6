import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const MODULE = JSON.stringify(join(import.meta.dirname, '../lib/temporary-folder.ts'));
const NODE = join(import.meta.dirname, '../node_modules/node/bin/node');

let shared: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), 'shared-'));
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
});

/** A process that makes a temporary folder, in which it writes some files, and then runs more code. */
const starts = (more: string): ChildProcess => {
  const code = `import { temporaryFolder } from ${MODULE};
    import { mkdirSync, writeFileSync } from 'node:fs';
    const folder = temporaryFolder('cdk');
    for (let n = 0; n < 50; n += 1) mkdirSync(folder + '/' + n), writeFileSync(folder + '/' + n + '/file', 'text');
    process.send(folder);
    ${more}`;
  const child = spawn(NODE, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, TMPDIR: shared },
  });
  children.push(child);
  return child;
};
const folderOf = async (child: ChildProcess): Promise<string> => {
  const [folder] = (await once(child, 'message')) as [string];
  return dirname(folder);
};
/** A process that stays. */
const living = async () => {
  const child = starts('setInterval(() => {}, 1_000);');
  return { child, folder: await folderOf(child) };
};
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};
const killed = async (): Promise<string> => {
  const { child, folder } = await living();
  await kill(child);
  return folder;
};
/** Runs a process until it ends by itself. @returns what it complained about */
const runs = async (more = 'process.disconnect();'): Promise<string> => {
  const child = starts(more);
  let said = '';
  child.stderr?.on('data', (data) => {
    said += String(data);
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(0);
  return said;
};

it('deletes the folders of its process when that ends, and of one that was killed before', async () => {
  expect(existsSync(join(await killed(), 'alive'))).toBe(true);
  expect(await runs()).toBe('');
  expect(readdirSync(shared)).toEqual([]);
});

it('keeps the folder of a living process, even of one that is stopped or does not answer', async () => {
  const [idle, stopped] = [await living(), await living()];
  const busy = starts('for (;;);');
  const folders = [idle.folder, stopped.folder, await folderOf(busy)];
  stopped.child.kill('SIGSTOP');
  for (let n = 0; n < 3; n += 1) expect(await runs()).toBe('');
  expect(readdirSync(shared).sort()).toEqual(folders.map((folder) => basename(folder)).sort());
  for (const folder of folders) expect(readdirSync(folder)).toHaveLength(2);
});

it('keeps what shows no proof that its process has ended, and the folders of others', async () => {
  const folder = await killed();
  const prefix = basename(folder).replace(/[^-]*$/, '');
  // Just made by a process that does not listen yet; of another machine; a link to a folder elsewhere.
  mkdirSync(join(shared, `${prefix}young`));
  mkdirSync(join(shared, `${prefix}begun`));
  const elsewhere = join(shared, 'groupage-00000000-elsewhere');
  mkdirSync(elsewhere);
  const others = mkdtempSync(join(tmpdir(), 'others-'));
  for (const dead of [elsewhere, others, join(shared, `${prefix}begun`)])
    await leavesSocket(join(dead, dead.endsWith('begun') ? 'starting' : 'alive'));
  writeFileSync(join(others, 'theirs'), '');
  symlinkSync(others, join(shared, `${prefix}link`));
  expect(await runs()).toBe('');
  const kept = ['groupage-00000000-elsewhere', `${prefix}begun`, `${prefix}link`, `${prefix}young`];
  expect(readdirSync(shared).sort()).toEqual(kept.sort());
  expect(readdirSync(others).sort()).toEqual(['alive', 'theirs']);
});

it.skipIf(process.getuid?.() !== 0)('keeps the folder of another user', async () => {
  const folder = await killed();
  chownSync(folder, 12_345, 12_345);
  expect(await runs()).toBe('');
  expect(readdirSync(shared)).toEqual([basename(folder)]);
});

/** Folders of processes that were killed together. */
const manyKilled = async (): Promise<readonly string[]> => {
  const all = await Promise.all(Array.from({ length: 5 }, living));
  await Promise.all(all.map(({ child }) => kill(child)));
  return all.map(({ folder }) => basename(folder)).sort();
};

it('lets several processes delete the same folders at once', async () => {
  // Before a process is killed, it may still delete the folders of those that were killed earlier.
  const folders = await manyKilled();
  const left = readdirSync(shared);
  expect(left.length).toBeGreaterThan(0);
  expect(folders).toEqual(expect.arrayContaining(left));
  expect(await Promise.all(Array.from({ length: 5 }, () => runs()))).toEqual(Array.from({ length: 5 }, () => ''));
  expect(readdirSync(shared)).toEqual([]);
});

it.each([0, 1, 2, 4, 8])('completes a deletion that was cut off by a kill or an exit after %d ms', async (after) => {
  await manyKilled();
  const cut = starts(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${after});`);
  await once(cut, 'exit');
  expect(readdirSync(shared)).not.toEqual([]);
  expect(await runs(`setTimeout(() => process.exit(), ${after});`)).toBe('');
  expect(await runs()).toBe('');
  expect(readdirSync(shared)).toEqual([]);
});

/** Leaves a socket whose process has ended. */
const leavesSocket = async (path: string): Promise<void> => {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'));`;
  await once(spawn(NODE, ['-e', code], { stdio: 'ignore' }), 'exit');
};
