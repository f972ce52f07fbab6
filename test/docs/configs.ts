/** The configurations of a page, as its reader would save them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { ROOT } from '../cli/groupage.ts';
import { blocksOf } from './blocks.ts';

/** The imports that the pages use. */
const ENTRY = /'(?:groupage\/config|\.\/src\/config\/index\.ts)'/;
const ENTRY_HERE = JSON.stringify(join(ROOT, 'src/config/index.ts'));

export const configsOf = async (page: string): Promise<readonly Config[]> => {
  const shown = blocksOf(page).filter(({ text }) => text.includes('export default defineConfig('));
  const folder = mkdtempSync(join(tmpdir(), 'groupage-docs-'));
  try {
    return await Promise.all(
      shown.map(({ text, at }) => {
        const file = join(folder, `${at.replaceAll(/[^\w]/g, '-')}.ts`);
        writeFileSync(file, text.replace(ENTRY, ENTRY_HERE));
        return loadConfig(file);
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
