/** Temporary folders that are deleted when this process exits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/** @param name becomes part of the folder's name, so that a user can see which program created the folder. */
export const temporaryFolder = (name: string): string => {
  if (made.size === 0)
    process.once('exit', () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true });
    });
  const folder = mkdtempSync(join(tmpdir(), `groupage-${name}-`));
  made.add(folder);
  return folder;
};
