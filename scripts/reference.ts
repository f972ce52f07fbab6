/**
 * `npm run reference`: generates pages from the docstrings of the package's exports, in docs/reference/api or in the given
 * folder. `npm run build` adds them to the package. The pages are not committed.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = join(dirname(fileURLToPath(import.meta.url)), 'reference');
const out = resolve(process.argv[2] ?? join(HERE, '../../docs/reference/api'));

const typedoc = join(HERE, 'node_modules/typedoc/bin/typedoc');
const { status } = spawnSync(process.execPath, [typedoc, '--options', join(HERE, 'typedoc.json'), '--out', out], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
