import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { connect } from '../../tools/cli/shared/connect.ts';
import { readLocalFile } from '../../tools/local/local-folder.ts';

/** A folder in which a stack seems to run, and one below it. */
const folderWith = (fields: object): { folder: string; below: string } => {
  const folder = temporaryFolder('local-file');
  const below = join(folder, 'work', 'here');
  mkdirSync(join(folder, '.groupage'));
  mkdirSync(below, { recursive: true });
  writeFileSync(join(folder, '.groupage', 'local.json'), JSON.stringify({ pid: process.pid, ...fields }));
  return { folder, below };
};

describe("the file with the local stack's address", () => {
  it('is found from the folders below', async () => {
    const { folder, below } = folderWith({ api: 'http://127.0.0.1:4500/v1' });
    expect(readLocalFile(folder)?.api).toBe('http://127.0.0.1:4500/v1');
    expect((await connect({}, below)).url).toBe('http://127.0.0.1:4500/v1');
  });

  it('is ignored if its address is not on this machine', async () => {
    for (const api of [
      'http://evil.example/v1',
      'http://127.0.0.1.evil.example:80/v1',
      'http://127.0.0.1:80@evil.example/v1',
      'http://127.0.0.1:4500/v1/../../x',
      '\u001b[2Jhttp://127.0.0.1:4500/v1',
      7,
    ]) {
      const { folder, below } = folderWith({ api });
      expect(readLocalFile(folder), String(api)).toBeUndefined();
      await expect(connect({}, below)).rejects.toThrow('no local stack of yours runs in this folder');
    }
  });

  it('is ignored if it belongs to another user', async () => {
    const { folder, below } = folderWith({ api: 'http://127.0.0.1:4500/v1' });
    const own = process.getuid?.() ?? 0;
    const other = vi.spyOn(process, 'getuid').mockReturnValue(own + 1);
    await expect(connect({}, below)).rejects.toThrow('no local stack of yours');
    other.mockRestore();
    expect(readLocalFile(folder)).toBeDefined();
  });
});
